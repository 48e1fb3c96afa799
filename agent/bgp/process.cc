#include "agent/bgp/process.h"

#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <unistd.h>

namespace edge::agent::bgp {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kFifo = "alive";
constexpr const char* kShell = "/bin/bash";
/// The FIFO is its standard input. BIRD has none, and times of UTC.
constexpr const char* kScript = R"(cd "$1" || exit 1
TZ=UTC "$2" -f -c bird.conf -s bird.ctl -P bird.pid $3 </dev/null >/dev/null 2>&1 &
trap '' HUP INT TERM
while read -r -t 3 -n 1; do kill -0 $! 2>/dev/null || exit 1; done
exec <&-
kill -TERM $! 2>/dev/null
wait $!
)";
constexpr auto kEnding = std::chrono::seconds(2);

Error failed(const char* what, int error) {
  return {ErrorCode::kUnavailable, std::string(what) + ": " + std::generic_category().message(error)};
}

/// Attributes of the child process: the FIFO as standard input, a session of its own, no signals blocked.
class SpawnSettings {
 public:
  explicit SpawnSettings(int input) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  int spawn(pid_t& pid, char* const* arguments) {
    // An environment of its own: that of the agent may hold secrets.
    std::string path = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
    std::array<char*, 2> environment = {path.data(), nullptr};
    return ::posix_spawn(&pid, kShell, &actions_, &attributes_, arguments, environment.data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

std::string find_program(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0 ? program : std::string();
  for (const char* const folder : {"/usr/sbin/", "/usr/local/sbin/", "/usr/bin/", "/usr/local/bin/"}) {
    if (const std::string path = folder + program; ::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

Result<Process> Process::start(int directory, std::string path, const std::string& program, bool recovers) {
  std::string found = find_program(program);
  if (found.empty()) return Error{ErrorCode::kNotFound, "there is no BIRD on this node (package bird2)"};
  if (::access(kShell, X_OK) != 0) return Error{ErrorCode::kNotFound, std::string("there is no ") + kShell};
  for (const char* const left : {kFifo, "bird.ctl", "bird.pid"}) ::unlinkat(directory, left, 0);
  if (::mkfifoat(directory, kFifo, S_IRUSR | S_IWUSR) != 0) return failed("cannot make a FIFO for BIRD", errno);
  net::Fd input(::openat(directory, kFifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  net::Fd alive(::openat(directory, kFifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (!input.valid() || !alive.valid()) return failed("cannot open the FIFO of BIRD", errno);
  // The shell waits for what comes.
  ::fcntl(input.get(), F_SETFL, 0);
  std::string name = "bash";
  std::string option = "-c";
  std::string script = kScript;
  std::string recovery = recovers ? "-R" : "";
  std::array<char*, 8> arguments = {name.data(), option.data(), script.data(),   name.data(),
                                    path.data(), found.data(),  recovery.data(), nullptr};
  pid_t pid = 0;
  if (const int error = SpawnSettings(input.get()).spawn(pid, arguments.data()); error != 0) {
    return failed("cannot start BIRD", error);
  }
  Process process(std::move(alive), pid);
  process.beat();
  return process;
}

Result<Process> Process::adopt(int directory) {
  net::Fd alive(::openat(directory, kFifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  if (!alive.valid()) return Error{ErrorCode::kNotFound, "no BIRD runs there"};
  Process process(std::move(alive), 0);
  if (!process.beat()) return Error{ErrorCode::kNotFound, "no BIRD runs there"};
  return process;
}

bool Process::is_there(int directory) {
  return net::Fd(::openat(directory, kFifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC)).valid();
}

Process::Process(Process&& other) noexcept : alive_(std::move(other.alive_)), shell_(std::exchange(other.shell_, 0)) {}

Process::~Process() { end(); }

bool Process::beat() {
  // One that is full is one that is not read just now.
  if (::write(alive_.get(), "\n", 1) == 1 || errno == EAGAIN) return true;
  if (shell_ != 0 && ::waitpid(shell_, nullptr, WNOHANG) == shell_) shell_ = 0;
  return false;
}

void Process::let_go() {
  alive_.reset();
  shell_ = 0;
}

void Process::end() {
  alive_.reset();
  const auto until = Clock::now() + kEnding;
  while (shell_ != 0) {
    if (::waitpid(shell_, nullptr, WNOHANG) != 0) {
      shell_ = 0;
    } else if (Clock::now() > until) {
      // Of the session that it began: BIRD too.
      ::kill(-shell_, SIGKILL);
      ::waitpid(shell_, nullptr, 0);
      shell_ = 0;
    } else {
      ::poll(nullptr, 0, 2);
    }
  }
}

}  // namespace edge::agent::bgp
