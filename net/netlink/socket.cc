#include "net/netlink/socket.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "net/netlink/message.h"

namespace edge::net::netlink {

Error error_of(int number, const std::string& what) {
  const std::string text = what + ": " + std::strerror(number);
  switch (number) {
    case EPERM:
    case EACCES:
      return {ErrorCode::kPermissionDenied, text};
    case EADDRNOTAVAIL:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENODEV:
    case ENOENT:
    case ESRCH:
      return {ErrorCode::kNotFound, text};
    case EEXIST:
      return {ErrorCode::kAlreadyExists, text};
    case EAFNOSUPPORT:
    case EOPNOTSUPP:
      return {ErrorCode::kUnimplemented, text};
    default:
      return {ErrorCode::kUnavailable, text};
  }
}

Result<Socket> Socket::open(Options options) {
  Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, options.protocol));
  if (!fd.valid()) return error_of(errno, options.what);
  sockaddr_nl own{};
  own.nl_family = AF_NETLINK;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) return error_of(errno, options.what);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(options.patience);
  const timeval patience{.tv_sec = seconds.count(), .tv_usec = (options.patience - seconds).count()};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return Socket(std::move(fd), std::move(options.what));
}

Status Socket::ask(const std::vector<char>& request, const Take& take) {
  if (::send(fd_.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return error_of(errno, what_);
  std::vector<char> buffer(kDatagram);
  interrupted_ = false;
  for (;;) {
    const ssize_t size = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return error_of(size < 0 ? errno : EIO, what_);
    std::optional<Status> end;
    each_message(buffer.data(), static_cast<std::size_t>(size),
                 [&](const nlmsghdr& header, const char* body, std::size_t length) {
                   if (header.nlmsg_seq != sequence_) return true;
                   interrupted_ = interrupted_ || (header.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
                   if (header.nlmsg_type == NLMSG_DONE) end = Status();
                   if (header.nlmsg_type == NLMSG_ERROR) {
                     const int error = value_of<nlmsgerr>(body, length).error;
                     end = error == 0 ? Status() : Status(error_of(-error, what_));
                   }
                   if (!end && take) take(header, body, length);
                   return !end;
                 });
    if (end) return *end;
  }
}

}  // namespace edge::net::netlink
