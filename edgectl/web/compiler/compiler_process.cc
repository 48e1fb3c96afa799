#include "edgectl/web/compiler/compiler_process.h"

#include <sys/socket.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <spawn.h>
#include <unistd.h>

#include "edgectl/web/compiler/compile_service.h"
#include "edgectl/web/compiler/frames.h"

namespace edge::edgectl::web {
namespace {

constexpr std::size_t kMostReply = std::size_t{64} << 20;
constexpr int kLastErrorCode = static_cast<int>(ErrorCode::kUnauthenticated);

/// 0, or an errno.
int spawn(const std::string& executable, int socket, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&files, socket, kCompilerSocket);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  std::array<char*, 3> words = {const_cast<char*>("edgectl"), const_cast<char*>(kCompilerWord), nullptr};
  const int error = ::posix_spawn(&pid, executable.c_str(), &files, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  return error;
}

}  // namespace

CompilerProcess::~CompilerProcess() { end(); }

Status CompilerProcess::start() {
  const std::scoped_lock lock(mutex_);
  if (stopped_) return Error{ErrorCode::kCancelled, "the server is stopping"};
  if (socket_.valid()) return {};
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) {
    return Error{ErrorCode::kUnavailable, std::string("the compiler cannot be run: ") + std::strerror(errno)};
  }
  net::Fd ours(pair[0]);
  const net::Fd theirs(pair[1]);
  if (const int error = spawn(executable_, theirs.get(), pid_); error != 0) {
    pid_ = -1;
    return Error{ErrorCode::kUnavailable, std::string("the compiler cannot be run: ") + std::strerror(error)};
  }
  socket_ = std::move(ours);
  last_ = std::chrono::steady_clock::now();
  ++generation_;
  return {};
}

Result<std::string> CompilerProcess::ask(std::string_view message, std::chrono::milliseconds time) {
  if (Status started = start(); !started) return started.error();
  // Only this thread replaces it.
  const int socket = socket_.get();
  const FrameDeadline until = std::chrono::steady_clock::now() + time;
  const Status sent = write_frame(socket, message, until);
  Result<std::string> reply = sent ? read_frame(socket, kMostReply, until) : Result<std::string>(sent.error());
  last_ = std::chrono::steady_clock::now();
  if (!reply) {
    end();
    if (reply.error().code == ErrorCode::kDeadlineExceeded) {
      return Error{ErrorCode::kDeadlineExceeded, "the compiler was ended: it did not answer in time"};
    }
    return Error{ErrorCode::kUnavailable, "the compiler ended before it answered: " + reply.error().text};
  }
  const int code = reply->empty() ? -1 : static_cast<unsigned char>(reply->front());
  if (code < 0 || code > kLastErrorCode) {
    end();
    return Error{ErrorCode::kInternal, "the compiler's answer is not one"};
  }
  reply->erase(0, 1);
  if (code != 0) return Error{static_cast<ErrorCode>(code), std::move(*reply)};
  return reply;
}

bool CompilerProcess::end_if_idle(std::chrono::milliseconds idle) {
  if (pid_ > 0 && std::chrono::steady_clock::now() - last_ >= idle) end();
  return pid_ <= 0;
}

void CompilerProcess::stop() {
  const std::scoped_lock lock(mutex_);
  stopped_ = true;
  if (socket_.valid()) ::shutdown(socket_.get(), SHUT_RDWR);
}

void CompilerProcess::end() {
  {
    const std::scoped_lock lock(mutex_);
    socket_ = net::Fd();
  }
  if (pid_ <= 0) return;
  // It may compile, and would hear of the end only afterwards.
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace edge::edgectl::web
