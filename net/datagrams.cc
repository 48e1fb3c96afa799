#include "net/datagrams.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <unistd.h>

#include "net/raw_address.h"

namespace edge::net {
namespace {

constexpr int kWantedBuffer = 4 << 20;

/// By syscall(), as net/socket.cc has it.
long receive_many(int fd, mmsghdr* messages, std::size_t count) {
  for (;;) {
    const long got = ::syscall(SYS_recvmmsg, fd, messages, count, 0, nullptr);
    if (got >= 0 || errno != EINTR) return got;
  }
}

long send_many(int fd, mmsghdr* messages, std::size_t count) {
  for (;;) {
    const long sent = ::syscall(SYS_sendmmsg, fd, messages, count, MSG_NOSIGNAL);
    if (sent >= 0 || errno != EINTR) return sent;
  }
}

long send_one(int fd, const msghdr* message) {
  for (;;) {
    const long sent = ::syscall(SYS_sendmsg, fd, message, MSG_NOSIGNAL);
    if (sent >= 0 || errno != EINTR) return sent;
  }
}

/// Appends a control message of one value.
template <typename Value>
void append_control(msghdr& message, std::size_t room, int level, int type, const Value& value) {
  char* const at = static_cast<char*>(message.msg_control) + message.msg_controllen;
  const std::size_t space = CMSG_SPACE(sizeof value);
  if (message.msg_controllen + space > room) return;
  std::memset(at, 0, space);
  auto* header = reinterpret_cast<cmsghdr*>(at);
  header->cmsg_level = level;
  header->cmsg_type = type;
  header->cmsg_len = CMSG_LEN(sizeof value);
  std::memcpy(CMSG_DATA(header), &value, sizeof value);
  message.msg_controllen += space;
}

void append_local(msghdr& message, std::size_t room, const IpAddress& local) {
  if (local.is_v4()) {
    in_pktinfo info{};
    std::memcpy(&info.ipi_spec_dst, local.bytes.data() + 12, 4);
    append_control(message, room, IPPROTO_IP, IP_PKTINFO, info);
  } else {
    in6_pktinfo info{};
    std::memcpy(&info.ipi6_addr, local.bytes.data(), 16);
    append_control(message, room, IPPROTO_IPV6, IPV6_PKTINFO, info);
  }
}

IpAddress v4_mapped(const in_addr& v4) {
  IpAddress address;
  address.bytes[10] = address.bytes[11] = 0xff;
  std::memcpy(address.bytes.data() + 12, &v4, 4);
  return address;
}

void read_control(const cmsghdr& header, Datagrams& out) {
  const void* const data = CMSG_DATA(&header);
  if (header.cmsg_level == IPPROTO_UDP && header.cmsg_type == UDP_GRO) {
    int size = 0;
    std::memcpy(&size, data, sizeof size);
    if (size > 0 && static_cast<std::size_t>(size) < out.bytes.size()) out.segment = static_cast<std::size_t>(size);
  } else if (header.cmsg_level == IPPROTO_IP && header.cmsg_type == IP_PKTINFO) {
    in_pktinfo info;
    std::memcpy(&info, data, sizeof info);
    out.local = v4_mapped(info.ipi_addr);
  } else if (header.cmsg_level == IPPROTO_IPV6 && header.cmsg_type == IPV6_PKTINFO) {
    in6_pktinfo info;
    std::memcpy(&info, data, sizeof info);
    std::memcpy(out.local.bytes.data(), &info.ipi6_addr, 16);
  }
}

}  // namespace

void receive_joined(int fd) { enable(fd, IPPROTO_UDP, UDP_GRO); }

void tell_local_address(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return;
  if (bound.ss_family == AF_INET6) {
    enable(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO);
  } else {
    enable(fd, IPPROTO_IP, IP_PKTINFO);
  }
}

std::uint64_t socket_cookie(int fd) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return ::getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

void widen_buffers(int fd) {
  ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kWantedBuffer, sizeof kWantedBuffer);
  ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kWantedBuffer, sizeof kWantedBuffer);
}

// ---- Receiving ------------------------------------------------------------------------------------------------------

DatagramBuffers::DatagramBuffers(std::size_t slots)
    : memory_(new char[slots * kSlotBytes]), messages_(slots), pieces_(slots), peers_(slots), controls_(slots) {
  for (std::size_t i = 0; i < slots; ++i) {
    pieces_[i] = {memory_.get() + i * kSlotBytes, kSlotBytes};
    msghdr& message = messages_[i].msg_hdr;
    message.msg_name = &peers_[i];
    message.msg_iov = &pieces_[i];
    message.msg_iovlen = 1;
    message.msg_control = controls_[i].bytes.data();
  }
}

std::size_t DatagramBuffers::receive(int fd, std::size_t first, std::size_t most, int& error) {
  for (std::size_t i = first; i < first + most; ++i) {
    messages_[i].msg_hdr.msg_namelen = sizeof(sockaddr_storage);
    messages_[i].msg_hdr.msg_controllen = sizeof(Control);
  }
  const long got = receive_many(fd, &messages_[first], most);
  error = got > 0 ? 0 : got == 0 ? EAGAIN : errno;
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

Datagrams DatagramBuffers::at(std::size_t slot) const {
  // Reading the list of control messages takes one that may be changed.
  msghdr message = messages_[slot].msg_hdr;
  Datagrams out{.bytes = {memory_.get() + slot * kSlotBytes, messages_[slot].msg_len}};
  out.truncated = (message.msg_flags & MSG_TRUNC) != 0;
  if (message.msg_namelen != 0) {
    RawAddress raw;
    raw.storage = peers_[slot];
    out.peer = from_raw(raw);
  }
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    read_control(*header, out);
  }
  return out;
}

// ---- Sending --------------------------------------------------------------------------------------------------------

bool tells_of_refusal(int error) {
  switch (error) {
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EHOSTDOWN:
    case ENONET:
    case ENOPROTOOPT:
    case EACCES:
      return true;
    default:
      return false;
  }
}

std::size_t DatagramQueue::count() const {
  std::size_t count = 0;
  for (const Entry& entry : entries_) count += entry.segments;
  return count;
}

DatagramQueue::DatagramQueue() : messages_(kMost), peers_(kMost), controls_(kMost) {
  entries_.reserve(kMost);
  pieces_.reserve(4 * kMost);
}

void DatagramQueue::add(const Target& target, const Datagrams& datagrams, std::string_view header) {
  if (datagrams.segment == 0) return add_one(target, datagrams.bytes, header);
  std::string_view rest = datagrams.bytes;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, datagrams.segment);
    add_one(target, one, header);
    rest.remove_prefix(one.size());
  }
}

void DatagramQueue::add_one(const Target& target, std::string_view bytes, std::string_view header) {
  const std::size_t size = header.size() + bytes.size();
  Entry* last = entries_.empty() ? nullptr : &entries_.back();
  const bool joins = last != nullptr && !last->closed && size != 0 && size <= last->segment &&
                     last->segment <= kLargestSegment && last->segments < kMostSegments &&
                     last->bytes + size <= kMostBytes && last->target == target;
  if (!joins) {
    last = &entries_.emplace_back(Entry{.target = target, .first = pieces_.size(), .segment = size});
  }
  last->closed = size < last->segment;
  ++last->segments;
  last->bytes += size;
  for (const std::string_view piece : {header, bytes}) {
    if (piece.empty()) continue;
    // What lies side by side is one piece.
    iovec* const before = last->pieces == 0 ? nullptr : &pieces_.back();
    if (before != nullptr && static_cast<const char*>(before->iov_base) + before->iov_len == piece.data()) {
      before->iov_len += piece.size();
      continue;
    }
    pieces_.push_back({const_cast<char*>(piece.data()), piece.size()});
    ++last->pieces;
  }
}

void DatagramQueue::compose(std::size_t index, msghdr& message) {
  const Entry& entry = entries_[index];
  message = {};
  message.msg_iov = &pieces_[entry.first];
  message.msg_iovlen = entry.pieces;
  if (entry.target.peer.port != 0) {
    const RawAddress raw = to_raw(entry.target.peer);
    peers_[index] = raw.storage;
    message.msg_name = &peers_[index];
    message.msg_namelen = raw.size;
  }
  message.msg_control = controls_[index].bytes.data();
  if (entry.target.local != IpAddress{}) append_local(message, sizeof(Control), entry.target.local);
  if (entry.segments > 1) {
    append_control(message, sizeof(Control), IPPROTO_UDP, UDP_SEGMENT, static_cast<std::uint16_t>(entry.segment));
  }
  if (message.msg_controllen == 0) message.msg_control = nullptr;
}

/// Whether the next may be tried.
bool DatagramQueue::count_failure(const Entry& entry, int error, std::size_t datagrams, Outcome& outcome) {
  if (entry.connected() && tells_of_refusal(error)) {
    outcome.refused = true;
    return false;
  }
  (error == EMSGSIZE ? outcome.oversized : outcome.dropped) += datagrams;
  return true;
}

/// Forgets the entry's first datagram, which has that size.
void DatagramQueue::drop_first(Entry& entry, std::size_t size) {
  entry.bytes -= size;
  --entry.segments;
  while (size != 0) {
    iovec& piece = pieces_[entry.first];
    const std::size_t taken = std::min(size, piece.iov_len);
    piece.iov_base = static_cast<char*>(piece.iov_base) + taken;
    piece.iov_len -= taken;
    size -= taken;
    if (piece.iov_len != 0) continue;
    ++entry.first;
    --entry.pieces;
  }
}

/// One by one, where the path or the system does not take them joined. What is left at a refusal stays in the entry.
bool DatagramQueue::send_apart(int fd, std::size_t index, Outcome& outcome) {
  Entry& entry = entries_[index];
  msghdr message{};
  compose(index, message);
  Control control{};
  message.msg_control = control.bytes.data();
  message.msg_controllen = 0;
  if (entry.target.local != IpAddress{}) append_local(message, sizeof(Control), entry.target.local);
  if (message.msg_controllen == 0) message.msg_control = nullptr;
  std::vector<iovec> one;
  while (entry.segments != 0) {
    const std::size_t size = std::min(entry.bytes, entry.segment);
    one.clear();
    std::size_t wanted = size;
    for (std::size_t at = entry.first; wanted != 0; ++at) {
      one.push_back({pieces_[at].iov_base, std::min(wanted, pieces_[at].iov_len)});
      wanted -= one.back().iov_len;
    }
    message.msg_iov = one.data();
    message.msg_iovlen = one.size();
    if (send_one(fd, &message) >= 0) {
      ++outcome.sent;
      outcome.bytes += size;
    } else if (!count_failure(entry, errno, 1, outcome)) {
      return false;
    }
    drop_first(entry, size);
  }
  return true;
}

DatagramQueue::Outcome DatagramQueue::flush(int fd) {
  Outcome outcome;
  for (std::size_t i = 0; i < entries_.size(); ++i) compose(i, messages_[i].msg_hdr);
  for (std::size_t next = 0; next < entries_.size();) {
    const std::size_t left = entries_.size() - next;
    const long sent =
        left == 1 ? std::min(send_one(fd, &messages_[next].msg_hdr), 0L) + 1 : send_many(fd, &messages_[next], left);
    for (long i = 0; i < sent; ++i, ++next) {
      outcome.sent += entries_[next].segments;
      outcome.bytes += entries_[next].bytes;
    }
    if (sent > 0) continue;
    // The error is that of the first that was left.
    const Entry& entry = entries_[next];
    const int error = errno;
    const bool refused = entry.connected() && tells_of_refusal(error);
    const bool joined = entry.segments > 1 && !refused && error != EAGAIN;
    if (!(joined ? send_apart(fd, next, outcome) : count_failure(entry, error, entry.segments, outcome))) {
      entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(next));
      return outcome;
    }
    ++next;
  }
  clear();
  return outcome;
}

}  // namespace edge::net
