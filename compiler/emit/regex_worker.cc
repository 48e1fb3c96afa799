#include "compiler/emit/regex_worker.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <unistd.h>

#include "compiler/emit/regex_protocol.h"

namespace edge::compiler::emit {
namespace {

bool over_cpu_limit(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU; }

}  // namespace

Result<RegexWorker::Reply> RegexWorker::ask(std::string_view frame) {
  if (frame.size() > kMaxRequestFrame) return Reply{{}, "The patterns of one host are too long."};
  const bool idle = pid_ >= 0;
  if (!idle) {
    if (Status started = start(); !started.ok()) return started.error();
  }
  Reply reply;
  ReplyStatus outcome = exchange(frame, reply.frame);
  if (outcome == ReplyStatus::kAnswered) return reply;
  int status = stop();
  if (outcome == ReplyStatus::kDied && idle && !over_cpu_limit(status)) {
    // It may have died while it waited, of nothing that it was asked.
    if (Status started = start(); !started.ok()) return started.error();
    outcome = exchange(frame, reply.frame);
    if (outcome == ReplyStatus::kAnswered) return reply;
    status = stop();
  }
  reply.fault = describe(status);
  if (outcome == ReplyStatus::kLate) {
    reply.fault = "Compiling takes more than " + std::to_string(limits_.wall.count()) + " ms.";
  }
  return reply;
}

/// A worker that cannot compile one letter is none: what fails after this is the patterns' fault.
Status RegexWorker::start() {
  if (Status spawned = spawn(); !spawned.ok()) return spawned;
  std::string reply;
  const ReplyStatus outcome = exchange(encode_patterns({"a"}), reply);
  const auto answer = outcome == ReplyStatus::kAnswered ? decode_answer(reply) : std::nullopt;
  if (answer && answer->kind == RegexReply::kDatabase) return {};
  return Error{ErrorCode::kUnavailable, "the regex worker " + path_ + " does not work. " + describe(stop())};
}

Status RegexWorker::spawn() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return Error{ErrorCode::kUnavailable, std::string("no socket for the regex worker: ") + strerror(errno)};
  }
  // Its only descriptors are the socket and standard error; its environment is empty.
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A session of its own: a terminal's signals are for its parent. Default signals, none blocked.
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::string name = "edge-regexc";
  std::string seconds = std::to_string(limits_.cpu_seconds);
  std::string bytes = std::to_string(limits_.memory_bytes);
  char* const arguments[] = {name.data(), seconds.data(), bytes.data(), nullptr};
  char* const environment[] = {nullptr};
  const int error = posix_spawn(&pid_, path_.c_str(), &actions, &attributes, arguments, environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    pid_ = -1;
    return Error{ErrorCode::kUnavailable, "cannot run the regex worker " + path_ + ": " + strerror(error)};
  }
  socket_ = ends[0];
  const auto seconds_part = std::chrono::duration_cast<std::chrono::seconds>(limits_.wall);
  const timeval timeout{seconds_part.count(),
                        std::chrono::duration_cast<std::chrono::microseconds>(limits_.wall - seconds_part).count()};
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
  return {};
}

RegexWorker::ReplyStatus RegexWorker::exchange(std::string_view frame, std::string& reply) {
  const Deadline deadline = std::chrono::steady_clock::now() + limits_.wall;
  std::string head;
  append_u32(head, static_cast<std::uint32_t>(frame.size()));
  if (!send_all(head) || !send_all(frame)) return ReplyStatus::kDied;
  char size_bytes[4];
  if (const ReplyStatus outcome = receive_all(size_bytes, sizeof size_bytes, deadline);
      outcome != ReplyStatus::kAnswered) {
    return outcome;
  }
  const std::uint32_t size = read_u32(size_bytes);
  if (size > kMaxReplyFrame) return ReplyStatus::kDied;
  reply.resize(size);
  return receive_all(reply.data(), size, deadline);
}

bool RegexWorker::send_all(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t n = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

RegexWorker::ReplyStatus RegexWorker::receive_all(char* bytes, std::size_t size, Deadline deadline) const {
  while (size > 0) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) return ReplyStatus::kLate;
    pollfd wait{socket_, POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(std::min<long long>(left, 60'000)));
    if (ready < 0 && errno != EINTR) return ReplyStatus::kDied;
    if (ready <= 0) continue;
    const ssize_t n = recv(socket_, bytes, size, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ReplyStatus::kDied;
    bytes += n;
    size -= static_cast<std::size_t>(n);
  }
  return ReplyStatus::kAnswered;
}

int RegexWorker::stop() {
  if (pid_ < 0) return 0;
  close(socket_);
  // A worker that ended by itself keeps its own status: it is a zombie by now.
  kill(pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  socket_ = -1;
  return status;
}

std::string RegexWorker::describe(int status) const {
  if (over_cpu_limit(status)) {
    return "Compiling takes more than " + std::to_string(limits_.cpu_seconds) + " s of CPU time.";
  }
  if (WIFSIGNALED(status)) return "The regex compiler ended by signal " + std::to_string(WTERMSIG(status)) + ".";
  return "The regex compiler ended with status " + std::to_string(WEXITSTATUS(status)) + ".";
}

}  // namespace edge::compiler::emit
