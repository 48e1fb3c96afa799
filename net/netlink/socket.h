// A question to the kernel over netlink(7), and its answer.
#pragma once

#include <linux/netlink.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/socket.h"

namespace edge::net::netlink {

/// Takes a message of an answer: its header, and what follows it.
using Take = std::function<void(const nlmsghdr& header, const char* body, std::size_t size)>;

/// \param number  an errno
Error error_of(int number, const std::string& what);

/// For one thread, in whose network namespace it was opened.
class Socket {
 public:
  struct Options {
    int protocol = NETLINK_ROUTE;
    /// What errors begin with.
    std::string what = "the kernel refuses";
    /// The kernel answers immediately: what comes later was lost.
    std::chrono::microseconds patience{500'000};
  };
  static Result<Socket> open(Options options);
  /// Over a socket whose other end answers like the kernel.
  Socket(Fd fd, std::string what) : fd_(std::move(fd)), what_(std::move(what)) {}

  /// The number of the next request, which its answer has, too.
  std::uint32_t next() { return ++sequence_; }
  /// Sends a request that was begun with `next`, and reads until the answer's end: of a dump its last message, else the
  /// acknowledgement, which the request must ask for (NLM_F_ACK). Answers to earlier requests are passed over.
  Status ask(const std::vector<char>& request, const Take& take = {});
  /// Whether what the last answer lists changed while it was listed (NLM_F_DUMP_INTR): entries may be missing.
  bool interrupted() const { return interrupted_; }
  int fd() const { return fd_.get(); }

 private:
  Fd fd_;
  std::string what_;
  std::uint32_t sequence_ = 0;
  bool interrupted_ = false;
};

}  // namespace edge::net::netlink
