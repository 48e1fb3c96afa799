#include "agent/wan/tunnel/child.h"

#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "net/socket.h"

namespace edge::agent::wan {
namespace {

constexpr auto kMostTime = std::chrono::seconds(10);
constexpr std::size_t kMostOutput = 1 << 20;
constexpr int kCannotRun = 127;

struct Pipe {
  net::Fd read;
  net::Fd write;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return Error{ErrorCode::kUnavailable, std::strerror(errno)};
  return Pipe{net::Fd(ends[0]), net::Fd(ends[1])};
}

/// In the child, between fork and exec: only what a signal handler may do. Does not return.
[[noreturn]] void become(const char* path, char* const* arguments, int input, int output, pid_t parent) {
  static std::array<char, 40> search = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
  static std::array<char, 20> level = {"LOG_LEVEL=error"};
  static const std::array<char*, 3> environment = {search.data(), level.data(), nullptr};
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before.
  if (::getppid() != parent) ::_exit(kCannotRun);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  ::execve(path, arguments, environment.data());
  ::_exit(kCannotRun);
}

/// Returns the pid; -1: errno.
pid_t start_with(const std::string& path, const std::vector<std::string>& arguments, int input, int output) {
  std::vector<std::string> texts = {path};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(path.c_str(), pointers.data(), input, output, parent);
  return pid;
}

/// Writes the input and reads the output until its end. False: it took too long.
bool exchange(net::Fd in, const net::Fd& out, std::string_view input, std::string& output) {
  const auto until = std::chrono::steady_clock::now() + kMostTime;
  ::fcntl(in.get(), F_SETFL, O_NONBLOCK);
  std::array<char, 8192> buffer{};
  for (;;) {
    if (input.empty()) in.reset();
    std::array<pollfd, 2> polled = {pollfd{out.get(), POLLIN, 0}, pollfd{in.get(), POLLOUT, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0 || ::poll(polled.data(), polled.size(), static_cast<int>(left)) == 0) return false;
    if (polled[1].revents != 0) {
      const ssize_t size = ::write(in.get(), input.data(), input.size());
      if (size < 0 && errno != EAGAIN) in.reset();
      if (size > 0) input.remove_prefix(static_cast<std::size_t>(size));
    }
    if (polled[0].revents == 0) continue;
    const ssize_t size = ::read(out.get(), buffer.data(), buffer.size());
    if (size <= 0) return true;
    if (output.size() < kMostOutput) output.append(buffer.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace

std::string find_system_program(std::string_view name) {
  for (const char* const folder :
       {"/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/", "/usr/local/sbin/", "/usr/local/bin/"}) {
    if (std::string path = folder + std::string(name); ::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

Result<std::string> run_program(const std::string& path, const std::vector<std::string>& arguments,
                                std::string_view input) {
  if (path.empty()) return Error{ErrorCode::kNotFound, "the program is not there"};
  auto to = make_pipe();
  auto from = make_pipe();
  if (!to || !from) return Error{ErrorCode::kUnavailable, "cannot make a pipe"};
  // Whoever does not read its input is told by the write.
  sigset_t pipe;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
  const pid_t pid = start_with(path, arguments, to->read.get(), from->write.get());
  if (pid < 0) return Error{ErrorCode::kUnavailable, "cannot start " + path + ": " + std::strerror(errno)};
  to->read.reset();
  from->write.reset();
  std::string output;
  const bool ended = exchange(std::move(to->write), from->read, input, output);
  if (!ended) ::kill(pid, SIGKILL);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (!ended) return Error{ErrorCode::kDeadlineExceeded, path + " does not end"};
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  return Error{ErrorCode::kUnavailable, path + ": " + (output.empty() ? "failed" : output)};
}

Result<Child> Child::start(const std::string& path, const std::vector<std::string>& arguments) {
  if (path.empty()) return Error{ErrorCode::kNotFound, "the program is not there"};
  const net::Fd nothing(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const pid_t pid = start_with(path, arguments, nothing.get(), nothing.get());
  if (pid < 0) return Error{ErrorCode::kUnavailable, "cannot start " + path + ": " + std::strerror(errno)};
  return Child(pid);
}

Child& Child::operator=(Child&& other) noexcept {
  if (this != &other) {
    end();
    pid_ = std::exchange(other.pid_, 0);
  }
  return *this;
}

bool Child::running() {
  if (pid_ == 0) return false;
  if (::waitpid(pid_, nullptr, WNOHANG) == 0) return true;
  pid_ = 0;
  return false;
}

void Child::end() {
  if (pid_ == 0) return;
  // It keeps nothing on disk; its link goes with it.
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

}  // namespace edge::agent::wan
