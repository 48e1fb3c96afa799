#include "agent/upgrade.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>
#include <system_error>

#include <poll.h>
#include <unistd.h>

namespace edge::agent {
namespace {

constexpr std::string_view kAskSockets = "edge-upgrade 1 sockets";
constexpr std::string_view kSayReady = "edge-upgrade 1 ready";
constexpr std::string_view kAskSockets2 = "edge-upgrade 2 sockets";
constexpr std::string_view kAskSockets3 = "edge-upgrade 3 sockets";
constexpr std::string_view kAskSockets4 = "edge-upgrade 4 sockets";
constexpr std::string_view kSayReady2 = "edge-upgrade 2 ready";
constexpr std::string_view kSaySettled = "edge-upgrade 2 settled";
constexpr std::string_view kSaySettled4 = "edge-upgrade 4 settled";
constexpr std::string_view kEnd = "end";
constexpr std::string_view kDraining = "draining";
/// Below the 253 that a message can carry.
constexpr std::size_t kDescriptorsAMessage = 64;
constexpr std::size_t kMaxSockets = 64 * 1024;
constexpr std::size_t kMaxMessage = 256;
constexpr std::size_t kMaxFlows = 1 << 20;
/// For one message to or from a process on this machine that has nothing else to do.
constexpr int kPatienceMilliseconds = 10'000;

Error failed(const std::string& what) {
  return {ErrorCode::kUnavailable, "upgrade socket: " + what + ": " + std::generic_category().message(errno)};
}

Error strange(const std::string& what) { return {ErrorCode::kUnavailable, "upgrade socket: " + what}; }

std::optional<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) return std::nullopt;
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

bool readable(int fd) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, kPatienceMilliseconds) == 1;
}

bool send_message(int fd, std::string_view text, std::span<const int> descriptors = {}) {
  iovec piece{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(kDescriptorsAMessage * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  }
  return ::sendmsg(fd, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

struct Message {
  std::string text;
  std::vector<net::Fd> descriptors;
};

/// nullopt when nothing comes in time, or the peer is gone.
std::optional<Message> receive_message(int fd) {
  if (!readable(fd)) return std::nullopt;
  char text[kMaxMessage];
  iovec piece{text, sizeof(text)};
  alignas(cmsghdr) char control[CMSG_SPACE(kDescriptorsAMessage * sizeof(int))];
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t size = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
  if (size <= 0) return std::nullopt;
  Message got{std::string(text, static_cast<std::size_t>(size)), {}};
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      got.descriptors.emplace_back(descriptor);
    }
  }
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return std::nullopt;
  return got;
}

/// Who may have the sockets: this user, and root.
bool may_ask(int peer) {
  ucred who{};
  socklen_t size = sizeof(who);
  return ::getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && (who.uid == ::geteuid() || who.uid == 0);
}

std::string line_of(const runtime::ListeningSockets& listening) {
  return std::string(listening.udp ? "datagrams " : "listener ") +
         (listening.any_address ? "any" : to_string(listening.address)) + " " + std::to_string(listening.port);
}

bool is_listener(int fd) {
  int listens = 0;
  socklen_t size = sizeof(listens);
  return ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens != 0;
}

bool takes_datagrams(int fd) {
  int type = 0;
  int domain = 0;
  socklen_t size = sizeof(type);
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_DGRAM &&
         ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && (domain == AF_INET || domain == AF_INET6);
}

std::optional<runtime::ListeningSockets> listening_of(Message message) {
  std::istringstream words(message.text);
  std::string kind;
  std::string address;
  std::uint32_t port = 0;
  runtime::ListeningSockets listening;
  if (!(words >> kind >> address >> port) || port > 0xffff) return std::nullopt;
  if (kind != "listener" && kind != "datagrams") return std::nullopt;
  listening.udp = kind == "datagrams";
  listening.any_address = address == "any";
  listening.port = static_cast<std::uint16_t>(port);
  if (!listening.any_address) {
    const auto parsed = parse_ip(address);
    if (!parsed) return std::nullopt;
    listening.address = *parsed;
  }
  const auto takes = listening.udp ? takes_datagrams : is_listener;
  const bool sound = !message.descriptors.empty() &&
                     std::ranges::all_of(message.descriptors, [&](const net::Fd& fd) { return takes(fd.get()); });
  if (!sound) return std::nullopt;
  listening.sockets = std::move(message.descriptors);
  return listening;
}

std::string line_of(const runtime::HandedFlow& flow) {
  std::ostringstream line;
  line << "flow " << flow.listening << ' ' << to_string(flow.client.address) << ' ' << flow.client.port << ' '
       << (flow.local == IpAddress{} ? "any" : to_string(flow.local)) << ' ' << flow.backend_id << ' '
       << to_string(flow.endpoint.address) << ' ' << flow.endpoint.port << ' ' << flow.goes_on;
  return line.str();
}

std::optional<runtime::HandedFlow> flow_of(Message message) {
  std::istringstream words(message.text);
  std::string kind;
  std::string client;
  std::string local;
  std::string endpoint;
  std::uint32_t client_port = 0;
  std::uint32_t endpoint_port = 0;
  runtime::HandedFlow flow;
  if (!(words >> kind >> flow.listening >> client >> client_port >> local >> flow.backend_id >> endpoint >>
        endpoint_port >> flow.goes_on) ||
      kind != "flow" || client_port > 0xffff || endpoint_port > 0xffff || message.descriptors.size() != 1 ||
      !takes_datagrams(message.descriptors[0].get())) {
    return std::nullopt;
  }
  const auto client_address = parse_ip(client);
  const auto endpoint_address = parse_ip(endpoint);
  const auto local_address = local == "any" ? std::optional(IpAddress{}) : parse_ip(local);
  if (!client_address || !endpoint_address || !local_address) return std::nullopt;
  flow.client = {*client_address, static_cast<std::uint16_t>(client_port)};
  flow.endpoint = {*endpoint_address, static_cast<std::uint16_t>(endpoint_port)};
  flow.local = *local_address;
  flow.socket = std::move(message.descriptors[0]);
  return flow;
}

}  // namespace

// ---- The old process ------------------------------------------------------------------------------------------------

UpgradeSocket::UpgradeSocket(std::string path, net::Fd listener, net::Fd stop, Owner owner)
    : path_(std::move(path)), listener_(std::move(listener)), stop_(std::move(stop)), owner_(std::move(owner)) {
  thread_ = std::thread([this] { run(); });
}

UpgradeSocket::~UpgradeSocket() {
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof(one));
  thread_.join();
}

Result<net::Fd> UpgradeSocket::listen(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return Error{ErrorCode::kInvalidArgument, "upgrade socket: the path is empty or too long"};
  net::Fd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!listener.valid()) return failed("cannot be made");
  struct stat there{};
  if (::lstat(path.c_str(), &there) == 0) {
    // Whoever listened there is gone, or has just handed over. What is no socket is somebody's file.
    if (!S_ISSOCK(there.st_mode)) return strange(path + " is not a socket");
    ::unlink(path.c_str());
  }
  // Nobody can connect before listen, so nobody does before the mode is right.
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) != 0) return failed(path);
  if (::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0 || ::listen(listener.get(), 4) != 0) return failed(path);
  return listener;
}

Result<std::unique_ptr<UpgradeSocket>> UpgradeSocket::open(const std::string& path, Owner owner) {
  auto listener = listen(path);
  if (!listener) return listener.error();
  net::Fd stop(::eventfd(0, EFD_CLOEXEC));
  if (!stop.valid()) return failed("cannot be made");
  return std::unique_ptr<UpgradeSocket>(
      new UpgradeSocket(path, std::move(*listener), std::move(stop), std::move(owner)));
}

void UpgradeSocket::run() {
  for (;;) {
    pollfd waits[] = {{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(waits, std::size(waits), -1) < 0 && errno != EINTR) return;
    if (waits[1].revents != 0) return;
    if (waits[0].revents == 0) continue;
    const net::Fd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    // One that is stopped reads nothing: this thread must end all the same.
    const timeval patience{.tv_sec = kPatienceMilliseconds / 1000, .tv_usec = 0};
    ::setsockopt(peer.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    if (peer.valid() && may_ask(peer.get()) && attend(peer.get())) return;
  }
}

// A successor compiles or loads its program between two questions, for as long as it takes.
std::optional<std::string> UpgradeSocket::next_message(int peer) const {
  for (;;) {
    pollfd waits[] = {{peer, POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(waits, std::size(waits), -1) < 0 && errno != EINTR) return std::nullopt;
    if (waits[1].revents != 0) return std::nullopt;
    if (waits[0].revents == 0) continue;
    auto message = receive_message(peer);
    return message ? std::optional(std::move(message->text)) : std::nullopt;
  }
}

bool UpgradeSocket::attend(int peer) {
  while (const auto question = next_message(peer)) {
    if (*question == kSayReady || *question == kSayReady2) return hand_over(peer, *question == kSayReady2);
    const bool with_udp = *question == kAskSockets3 || *question == kAskSockets4;
    if (!with_udp && *question != kAskSockets && *question != kAskSockets2) return false;
    if (!send_sockets(peer, with_udp)) return false;
  }
  return false;
}

bool UpgradeSocket::hand_over(int peer, bool until_settled) {
  listener_.reset();
  std::vector<net::Fd> ports = owner_.give_up();
  std::vector<int> descriptors;
  for (const net::Fd& port : ports) descriptors.push_back(port.get());
  send_message(peer, kDraining, descriptors);
  const std::optional<std::string> said = until_settled ? next_message(peer) : std::string(kSaySettled);
  if (said == kSaySettled4) send_flows(peer);
  if (said == kSaySettled || said == kSaySettled4) {
    owner_.leave();
    return true;
  }
  pollfd ends{stop_.get(), POLLIN, 0};
  if (::poll(&ends, 1, 0) != 0) return true;
  owner_.take_back(std::move(ports));
  // Its socket took the place of ours.
  auto listener = listen(path_);
  if (!listener) return true;
  listener_ = std::move(*listener);
  return false;
}

bool UpgradeSocket::send_sockets(int peer, bool with_udp) {
  for (const runtime::ListeningSockets& listening : owner_.share()) {
    if (listening.udp && !with_udp) continue;
    std::vector<int> descriptors;
    for (const net::Fd& socket : listening.sockets) descriptors.push_back(socket.get());
    std::span<const int> rest(descriptors);
    while (!rest.empty()) {
      const auto now = rest.first(std::min(rest.size(), kDescriptorsAMessage));
      if (!send_message(peer, line_of(listening), now)) return false;
      rest = rest.subspan(now.size());
    }
  }
  return send_message(peer, kEnd);
}

void UpgradeSocket::send_flows(int peer) {
  for (const runtime::HandedFlow& flow : owner_.give_flows()) {
    const int socket = flow.socket.get();
    if (!send_message(peer, line_of(flow), {&socket, 1})) return;
  }
  send_message(peer, kEnd);
}

// ---- The new process ------------------------------------------------------------------------------------------------

Result<std::optional<Predecessor>> Predecessor::find(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return Error{ErrorCode::kInvalidArgument, "upgrade socket: the path is empty or too long"};
  net::Fd connection(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!connection.valid()) return failed("cannot be made");
  if (::connect(connection.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof(*address)) == 0) {
    return std::optional(Predecessor(path, std::move(connection)));
  }
  if (errno == ENOENT || errno == ECONNREFUSED) return std::optional<Predecessor>();
  return failed(path);
}

Result<std::vector<runtime::ListeningSockets>> Predecessor::sockets() {
  if (!send_message(connection_.get(), kAskSockets4)) return failed("the running process does not answer");
  auto message = receive_message(connection_.get());
  // One of an older version hangs up on what it does not know.
  for (const std::string_view question : {kAskSockets3, kAskSockets2, kAskSockets}) {
    if (message) break;
    auto again = find(path_);
    if (!again || !*again) return strange("the running process did not hand over its sockets");
    *this = std::move(**again);
    gives_flows_ = false;
    settles_ = question != kAskSockets;
    if (!send_message(connection_.get(), question)) return failed("the running process does not answer");
    message = receive_message(connection_.get());
  }
  std::vector<runtime::ListeningSockets> all;
  for (std::size_t count = 0; count < kMaxSockets; ++count, message = receive_message(connection_.get())) {
    if (!message) return strange("the running process did not hand over its sockets");
    if (message->text == kEnd) return all;
    auto listening = listening_of(std::move(*message));
    if (!listening) return strange("the running process speaks another language");
    const auto same = std::ranges::find_if(all, [&](const runtime::ListeningSockets& other) {
      return other.udp == listening->udp && other.any_address == listening->any_address &&
             other.address == listening->address && other.port == listening->port;
    });
    if (same == all.end()) {
      all.push_back(std::move(*listening));
    } else {
      std::ranges::move(listening->sockets, std::back_inserter(same->sockets));
    }
  }
  return strange("the running process hands over too many sockets");
}

Result<std::vector<net::Fd>> Predecessor::ready() {
  if (!send_message(connection_.get(), settles_ ? kSayReady2 : kSayReady)) return failed("the running process is gone");
  auto answer = receive_message(connection_.get());
  if (!answer || answer->text != kDraining) return strange("the running process does not say that it drains");
  std::erase_if(answer->descriptors, [](const net::Fd& fd) { return !is_listener(fd.get()); });
  return std::move(answer->descriptors);
}

std::vector<runtime::HandedFlow> Predecessor::settled() {
  std::vector<runtime::HandedFlow> flows;
  // One that is gone by now needs not be told.
  if (!settles_ || !send_message(connection_.get(), gives_flows_ ? kSaySettled4 : kSaySettled)) return flows;
  while (gives_flows_ && flows.size() < kMaxFlows) {
    auto message = receive_message(connection_.get());
    if (!message || message->text == kEnd) break;
    if (auto flow = flow_of(std::move(*message))) flows.push_back(std::move(*flow));
  }
  return flows;
}

}  // namespace edge::agent
