#include "tests/cli/process.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

namespace edge::test {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kMostWait = std::chrono::seconds(120);

int left_ms(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(0, left));
}

struct Spawned {
  pid_t pid;
  int in;
  int out;
  int err;
};

Spawned spawn(const std::vector<std::string>& command, const std::filesystem::path& directory) {
  int in[2];
  int out[2];
  int err[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) {
    throw std::runtime_error("pipe");
  }
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::string path =
      bin_dir().string() + ":" + (::getenv("PATH") != nullptr ? ::getenv("PATH") : "/usr/bin:/bin");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    ::setenv("PATH", path.c_str(), 1);
    ::unsetenv("NO_COLOR");
    for (const char* name : {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}) ::unsetenv(name);
    if (::chdir(directory.c_str()) == 0) ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  ::close(in[0]);
  ::close(out[1]);
  ::close(err[1]);
  return {pid, in[1], out[0], err[0]};
}

/// Drops LeakSanitizer's remark on a thread that was just ending when it looked (a joined thread may still be on its
/// way out of the kernel). It is no output of the program, and comes by chance.
void drop_sanitizer_remarks(std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line(text.data() + at, end - at);
    if (line.starts_with("==") && line.find("==Unable to get registers from thread") != std::string_view::npos) {
      text.erase(at, end - at);
    } else {
      at = end;
    }
  }
}

int exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

std::filesystem::path bin_dir() { return std::filesystem::canonical("/proc/self/exe").parent_path(); }

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "edge-cli-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

void TempDir::put(const std::string& name, const std::string& text) const {
  std::filesystem::create_directories((path_ / name).parent_path());
  const std::filesystem::path beside = path_ / (name + ".tmp");
  std::ofstream(beside) << text;
  std::filesystem::rename(beside, path_ / name);
}

std::string TempDir::get(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream(path_ / name).rdbuf();
  return text.str();
}

Finished run_command(const std::vector<std::string>& command, const std::string& input,
                     const std::filesystem::path& directory) {
  ::signal(SIGPIPE, SIG_IGN);
  const Spawned child = spawn(command, directory);
  Finished finished;
  const auto deadline = Clock::now() + kMostWait;
  std::size_t sent = 0;
  ::fcntl(child.in, F_SETFL, O_NONBLOCK);
  int in = child.in;
  int open = 2;
  pollfd fds[3] = {{in, POLLOUT, 0}, {child.out, POLLIN, 0}, {child.err, POLLIN, 0}};
  while (open > 0) {
    if (sent == input.size() && in >= 0) {
      ::close(in);
      in = fds[0].fd = -1;
    }
    if (::poll(fds, 3, left_ms(deadline)) <= 0) {
      ::kill(child.pid, SIGKILL);
      finished.err += "\n(killed: it did not end in time)\n";
      break;
    }
    if (in >= 0 && fds[0].revents != 0) {
      const ssize_t put = ::write(in, input.data() + sent, input.size() - sent);
      sent = put < 0 ? input.size() : sent + static_cast<std::size_t>(put);
    }
    for (int i = 1; i < 3; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char buffer[16384];
      const ssize_t got = ::read(fds[i].fd, buffer, sizeof(buffer));
      if (got > 0) {
        (i == 1 ? finished.out : finished.err).append(buffer, static_cast<std::size_t>(got));
      } else {
        fds[i].fd = -1;
        --open;
      }
    }
  }
  if (in >= 0) ::close(in);
  ::close(child.out);
  ::close(child.err);
  int status = 0;
  ::waitpid(child.pid, &status, 0);
  finished.code = exit_code(status);
  drop_sanitizer_remarks(finished.out);
  drop_sanitizer_remarks(finished.err);
  return finished;
}

Process::Process(const std::vector<std::string>& command) {
  const Spawned child = spawn(command, ".");
  ::close(child.in);
  pid_ = child.pid;
  out_.fd = child.out;
  err_.fd = child.err;
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ::close(out_.fd);
  ::close(err_.fd);
}

std::optional<std::string> Process::wait_line(Stream& stream, const std::string& text) {
  const auto deadline = Clock::now() + kMostWait;
  for (;;) {
    for (std::size_t end; (end = stream.pending.find('\n')) != std::string::npos;) {
      std::string line = stream.pending.substr(0, end);
      stream.pending.erase(0, end + 1);
      if (line.find(text) != std::string::npos) return line;
    }
    // Both are read: a full pipe would stop the child.
    pollfd fds[2] = {{out_.fd, POLLIN, 0}, {err_.fd, POLLIN, 0}};
    const int ready = ::poll(fds, 2, left_ms(deadline));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    bool ended = false;
    for (Stream* each : {&out_, &err_}) {
      if (fds[each == &out_ ? 0 : 1].revents == 0) continue;
      char buffer[16384];
      const ssize_t got = ::read(each->fd, buffer, sizeof(buffer));
      if (got <= 0) {
        ended = ended || each == &stream;
        continue;
      }
      each->pending.append(buffer, static_cast<std::size_t>(got));
      each->all.append(buffer, static_cast<std::size_t>(got));
    }
    if (ended) return std::nullopt;
  }
}

void Process::send_signal(int number) const { ::kill(pid_, number); }

int Process::wait_exit() {
  // Its output is read on: an exiting process must not hang on a full pipe.
  for (Stream* each : {&out_, &err_}) {
    while (wait_line(*each, "\x01never")) {
    }
  }
  const int ended = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  pollfd fds = {ended, POLLIN, 0};
  const int ready = ::poll(&fds, 1, left_ms(Clock::now() + kMostWait));
  ::close(ended);
  if (ready != 1) return -1;
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return exit_code(status);
}

}  // namespace edge::test
