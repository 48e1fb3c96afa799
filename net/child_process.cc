#include "net/child_process.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <memory>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

namespace edge::net {
namespace {

/// A process whose output and exit a loop can wait for.
class Child {
 public:
  explicit Child(Loop& loop) : loop_(loop) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    // The loop may still have something to tell both of in this batch.
    output->close();
    end->close();
    loop_.retire(std::move(output));
    loop_.retire(std::move(end));
    if (pid_ <= 0) return;
    ::kill(alone_ ? pid_ : -pid_, SIGKILL);
    reap();
  }

  /// 0, or an errno.
  int start(const ProgramCall& call);
  /// Waits for the end; at once when `end` has been reported.
  int reap() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

  std::unique_ptr<Channel> output = std::make_unique<Channel>();
  std::unique_ptr<Channel> end = std::make_unique<Channel>();

 private:
  Loop& loop_;
  pid_t pid_ = -1;
  bool alone_ = false;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

/// Attributes of the child process: its standard output is `output`, its input is empty, the terminal or `output`, no
/// signal is blocked or ignored, and it leads a process group of its own, so that it can be killed with its children.
class SpawnSettings {
 public:
  SpawnSettings(int output, ProgramInput input) {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    if (input == ProgramInput::kNone) posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (input == ProgramInput::kText) posix_spawn_file_actions_adddup2(&files, output, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    sigset_t none;
    sigset_t defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    // A group in the background could not read from the terminal.
    const int group = input == ProgramInput::kTerminal ? 0 : POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group));
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
};

int Child::start(const ProgramCall& call) {
  alone_ = call.input == ProgramInput::kTerminal;
  int pair[2];
  // A socket and not a pipe: it is received from as every other channel.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return errno;
  Fd ours(pair[0]);
  const Fd theirs(pair[1]);
  ::fcntl(ours.get(), F_SETFL, O_NONBLOCK);
  const SpawnSettings settings(theirs.get(), call.input);
  const std::vector<char*> arguments = pointers(call.words);
  const std::vector<char*> variables = pointers(call.environment);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, call.words.front().c_str(), &settings.files, &settings.attributes,
                                   arguments.data(), variables.data());
  if (error != 0) return error;
  pid_ = pid;
  Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!process.valid()) return errno;
  if (call.input == ProgramInput::kText) {
    // It fits into the socket's buffer; more is none of a program's that is called here.
    if (::send(ours.get(), call.text.data(), call.text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) !=
        static_cast<ssize_t>(call.text.size())) {
      return ENOBUFS;
    }
    ::shutdown(ours.get(), SHUT_WR);
  }
  output->open(loop_, std::move(ours));
  end->open(loop_, std::move(process));
  return 0;
}

ProgramOutcome ended(int status, std::string output) {
  ProgramOutcome outcome{.end = ProgramEnd::kExited, .output = std::move(output)};
  if (WIFSIGNALED(status)) {
    outcome.end = ProgramEnd::kSignal;
    outcome.number = WTERMSIG(status);
  } else {
    outcome.number = WEXITSTATUS(status);
  }
  return outcome;
}

ProgramOutcome interrupted(Wake wake) {
  return {.end = wake == Wake::kCancelled ? ProgramEnd::kCancelled : ProgramEnd::kTimeout, .output = {}};
}

}  // namespace

std::vector<std::string> current_environment() {
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) all.emplace_back(*one);
  return all;
}

Task<ProgramOutcome> run_program(Loop& loop, Waiter& waiter, ProgramCall call) {
  Child child(loop);
  const int error = child.start(call);
  if (error != 0) co_return ProgramOutcome{.end = ProgramEnd::kNotStarted, .number = error, .output = {}};
  std::string written;
  for (;;) {
    std::array<char, 4096> piece;
    const Transfer got = child.output->receive(piece);
    if (got.kind == Transfer::Kind::kDone) {
      if (written.size() + got.bytes > call.max_output) {
        co_return ProgramOutcome{.end = ProgramEnd::kTooMuchOutput, .output = {}};
      }
      written.append(piece.data(), got.bytes);
      continue;
    }
    if (got.kind != Transfer::Kind::kWouldBlock) break;
    const Wake wake = co_await waiter.wait(call.until, *child.output, kRead);
    if (wake != Wake::kReady) co_return interrupted(wake);
  }
  const Wake wake = co_await waiter.wait(call.until, *child.end, kRead);
  if (wake != Wake::kReady) co_return interrupted(wake);
  co_return ended(child.reap(), std::move(written));
}

}  // namespace edge::net
