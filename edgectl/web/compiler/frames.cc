#include "edgectl/web/compiler/frames.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <poll.h>

namespace edge::edgectl::web {
namespace {

constexpr std::size_t kLength = 4;
/// Memory is taken as bytes arrive, so that a length alone takes none.
constexpr std::size_t kPiece = std::size_t{1} << 20;

Error closed() { return {ErrorCode::kUnavailable, "the other process has closed the connection"}; }

Status wait_for(int socket, short events, FrameDeadline until) {
  while (true) {
    const auto left = until - std::chrono::steady_clock::now();
    if (left <= FrameDeadline::duration::zero()) return Error{ErrorCode::kDeadlineExceeded, "no answer in time"};
    const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    pollfd one{.fd = socket, .events = events, .revents = 0};
    const int ready = ::poll(&one, 1, static_cast<int>(std::min<std::int64_t>(milliseconds, 60'000)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return Error{ErrorCode::kInternal, std::strerror(errno)};
  }
}

Status write_all(int socket, std::string_view text, FrameDeadline until) {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      text.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      if (Status ready = wait_for(socket, POLLOUT, until); !ready) return ready;
    } else if (errno != EINTR) {
      return closed();
    }
  }
  return {};
}

Status read_all(int socket, char* to, std::size_t size, FrameDeadline until) {
  while (size > 0) {
    const ssize_t got = ::recv(socket, to, size, MSG_DONTWAIT);
    if (got > 0) {
      to += got;
      size -= static_cast<std::size_t>(got);
    } else if (got < 0 && errno == EAGAIN) {
      if (Status ready = wait_for(socket, POLLIN, until); !ready) return ready;
    } else if (got == 0 || errno != EINTR) {
      return closed();
    }
  }
  return {};
}

}  // namespace

Status write_frame(int socket, std::string_view text, FrameDeadline until) {
  if (text.size() > kMostFrame) return Error{ErrorCode::kOutOfRange, "the message is too long"};
  std::array<char, kLength> length{};
  for (std::size_t i = 0; i < kLength; ++i) length[i] = static_cast<char>(text.size() >> (8 * i) & 0xff);
  if (Status sent = write_all(socket, {length.data(), length.size()}, until); !sent) return sent;
  return write_all(socket, text, until);
}

Result<std::string> read_frame(int socket, std::size_t most, FrameDeadline until) {
  std::array<char, kLength> length{};
  if (Status got = read_all(socket, length.data(), length.size(), until); !got) return got.error();
  std::size_t size = 0;
  for (std::size_t i = 0; i < kLength; ++i) size |= std::size_t{static_cast<std::uint8_t>(length[i])} << (8 * i);
  if (size > most) return Error{ErrorCode::kOutOfRange, "the message is too long"};
  std::string text;
  while (text.size() < size) {
    const std::size_t before = text.size();
    text.resize(std::min(size, before + kPiece));
    if (Status got = read_all(socket, text.data() + before, text.size() - before, until); !got) return got.error();
  }
  return text;
}

}  // namespace edge::edgectl::web
