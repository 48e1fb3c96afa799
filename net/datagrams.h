// Datagrams by the batch: many in one system call, and several of one size and one peer as one (UDP_GRO, UDP_SEGMENT)
// where the kernel does that.
//
// Threads: each object belongs to one.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "net/socket.h"

namespace edge::net {

/// The largest payload of a datagram over IPv4.
inline constexpr std::size_t kMaxDatagram = 65'507;

/// One datagram as it was received, or several of one sender in a row.
struct Datagrams {
  std::string_view bytes;
  /// Size of each but the last, which may be smaller; 0: there is one.
  std::size_t segment = 0;
  /// Absent (port 0) from a socket that is connected.
  SocketAddress peer{};
  /// The address that it was sent to, where the socket tells it.
  IpAddress local{};
  /// It was larger than any buffer: its end is lost.
  bool truncated = false;

  std::size_t count() const { return segment == 0 ? 1 : (bytes.size() + segment - 1) / segment; }
};

/// Has a socket receive several datagrams as one where the kernel can.
void receive_joined(int fd);
/// Has a socket that is bound to every address tell which one each datagram was sent to.
void tell_local_address(int fd);
/// Room for datagrams that wait; as much as the system allows.
void widen_buffers(int fd);
/// Returns a number that stands for the socket in every process that has it, and for no other; 0: the system has none.
std::uint64_t socket_cookie(int fd);

/// Buffers of one thread that datagrams are received into. Memory that none has needed yet is not taken.
class DatagramBuffers {
 public:
  explicit DatagramBuffers(std::size_t slots);

  std::size_t slots() const { return messages_.size(); }
  /// Fills the slots from `first` on, at most `most` of them. \returns how many; 0 with `error` (an errno, 0 never)
  /// when none was there.
  std::size_t receive(int fd, std::size_t first, std::size_t most, int& error);
  /// What a slot was filled with; valid until it is filled again.
  Datagrams at(std::size_t slot) const;

 private:
  static constexpr std::size_t kSlotBytes = 64 * 1024;
  struct Control {
    alignas(cmsghdr) std::array<char, 128> bytes;
  };

  std::unique_ptr<char[]> memory_;
  std::vector<mmsghdr> messages_;
  std::vector<iovec> pieces_;
  std::vector<sockaddr_storage> peers_;
  std::vector<Control> controls_;
};

/// Returns whether an error of a connected socket says that an earlier datagram was refused, by the peer or on the way
/// there (ICMP: unreachable or prohibited; RFC 1122 §4.1.3.3).
bool tells_of_refusal(int error);

/// Datagrams that are sent together. What they are made of must stay until flush().
class DatagramQueue {
 public:
  struct Target {
    SocketAddress peer{};  ///< port 0: the socket is connected
    IpAddress local{};     ///< where it is sent from; all zero: as the socket is bound
    friend bool operator==(const Target&, const Target&) = default;
  };
  struct Outcome {
    std::size_t sent = 0;       ///< datagrams
    std::size_t bytes = 0;      ///< of these
    std::size_t dropped = 0;    ///< no room in the socket, or refused by the system
    std::size_t oversized = 0;  ///< larger than a datagram may be there
    /// The socket is connected, and an earlier datagram was refused: what is left stays in the queue.
    bool refused = false;
  };

  DatagramQueue();

  bool empty() const { return entries_.empty(); }
  bool full() const { return entries_.size() >= kMost; }
  /// Returns the number of datagrams.
  std::size_t count() const;
  /// Adds datagrams, each behind `header`. Precondition: !full().
  void add(const Target& target, const Datagrams& datagrams, std::string_view header = {});
  /// Sends all of them and forgets them. Never waits.
  Outcome flush(int fd);
  void clear() {
    entries_.clear();
    pieces_.clear();
  }

 private:
  static constexpr std::size_t kMost = 64;
  /// The kernel takes no more at once (UDP_MAX_SEGMENTS), and one message has no more bytes.
  static constexpr std::size_t kMostSegments = 64;
  static constexpr std::size_t kMostBytes = 65'000;
  /// Larger ones may not fit into a packet, and are sent by themselves.
  static constexpr std::size_t kLargestSegment = 1'400;

  struct Entry {
    Target target{};
    std::size_t first = 0;  ///< of pieces_
    std::size_t pieces = 0;
    std::size_t bytes = 0;
    std::size_t segments = 0;
    std::size_t segment = 0;  ///< size of each but the last
    bool closed = false;      ///< the last is smaller: none may follow
    bool connected() const { return target.peer.port == 0; }
  };
  struct Control {
    alignas(cmsghdr) std::array<char, 128> bytes;
  };

  void add_one(const Target& target, std::string_view bytes, std::string_view header);
  void compose(std::size_t index, msghdr& message);
  bool send_apart(int fd, std::size_t index, Outcome& outcome);
  void drop_first(Entry& entry, std::size_t size);
  static bool count_failure(const Entry& entry, int error, std::size_t datagrams, Outcome& outcome);

  std::vector<Entry> entries_;
  std::vector<iovec> pieces_;
  std::vector<mmsghdr> messages_;
  std::vector<sockaddr_storage> peers_;
  std::vector<Control> controls_;
};

}  // namespace edge::net
