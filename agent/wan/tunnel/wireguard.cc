#include "agent/wan/tunnel/wireguard.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <utility>

#include <openssl/evp.h>
#include <unistd.h>

namespace edge::agent::wan {
namespace {

constexpr std::uint8_t kMapped = 96;
/// One peer's state is some hundred octets.
constexpr std::size_t kMostAnswer = 64 << 10;
constexpr int kPatienceSeconds = 2;

std::string hex(const WireGuardKey& key) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : key) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string endpoint_text(const net::SocketAddress& endpoint) {
  const std::string host = to_string(endpoint.address);
  return (endpoint.address.is_v4() ? host : "[" + host + "]") + ":" + std::to_string(endpoint.port);
}

template <typename Number>
Number number(std::string_view text) {
  Number value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::optional<net::SocketAddress> read_endpoint(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto address = parse_ip(host);
  if (!address) return std::nullopt;
  return net::SocketAddress{*address, number<std::uint16_t>(text.substr(colon + 1))};
}

}  // namespace

std::string write_settings(const WireGuardSettings& settings, const std::optional<net::SocketAddress>& endpoint) {
  std::string text = "set=1\nprivate_key=" + hex(settings.private_key) +
                     "\nlisten_port=" + std::to_string(settings.port) + "\nfwmark=" + std::to_string(settings.mark) +
                     "\npublic_key=" + hex(settings.peer_key) + "\n";
  if (endpoint) text += "endpoint=" + endpoint_text(*endpoint) + "\n";
  text += "persistent_keepalive_interval=" + std::to_string(settings.keepalive) + "\nreplace_allowed_ips=true\n";
  for (const Cidr& cidr : settings.allowed) {
    const bool v4 = cidr.address.is_v4();
    text += "allowed_ip=" + to_string(cidr.address) + "/" +
            std::to_string(v4 ? cidr.prefix_length - kMapped : cidr.prefix_length) + "\n";
  }
  return text + "\n";
}

std::string write_endpoint(const WireGuardKey& peer, const net::SocketAddress& endpoint) {
  return "set=1\npublic_key=" + hex(peer) + "\nupdate_only=true\nendpoint=" + endpoint_text(endpoint) + "\n\n";
}

Result<WireGuardState> read_state(std::string_view answer) {
  WireGuardState state;
  bool done = false;
  while (!answer.empty()) {
    const std::size_t end = std::min(answer.find('\n'), answer.size());
    const std::string_view line = answer.substr(0, end);
    answer.remove_prefix(std::min(end + 1, answer.size()));
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, equals);
    const std::string_view value = line.substr(equals + 1);
    if (name == "endpoint") state.endpoint = read_endpoint(value);
    if (name == "last_handshake_time_sec") {
      if (const auto at = number<std::int64_t>(value); at > 0) state.handshake = std::chrono::seconds(at);
    }
    if (name == "rx_bytes") state.received = number<std::uint64_t>(value);
    if (name == "tx_bytes") state.sent = number<std::uint64_t>(value);
    if (name != "errno") continue;
    if (value != "0") return Error{ErrorCode::kUnavailable, "wireguard-go: error " + std::string(value)};
    done = true;
  }
  if (!done) return Error{ErrorCode::kUnavailable, "wireguard-go: no whole answer"};
  return state;
}

std::optional<WireGuardKey> public_key(const WireGuardKey& private_key) {
  const std::unique_ptr<EVP_PKEY, decltype(&::EVP_PKEY_free)> key(
      ::EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nullptr, private_key.data(), private_key.size()),
      &::EVP_PKEY_free);
  WireGuardKey out{};
  std::size_t size = out.size();
  if (!key || ::EVP_PKEY_get_raw_public_key(key.get(), out.data(), &size) != 1) return std::nullopt;
  return out;
}

bool WireGuard::ready() const { return socket_.empty() || ::access(socket_.c_str(), F_OK) == 0; }

Result<std::string> WireGuard::ask(std::string_view request) const {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  if (socket_.size() >= sizeof to.sun_path)
    return Error{ErrorCode::kInvalidArgument, "the path is too long: " + socket_};
  std::memcpy(to.sun_path, socket_.c_str(), socket_.size());
  const auto broken = [&] {
    return Error{ErrorCode::kUnavailable, "wireguard-go of " + name_ + ": " + std::strerror(errno)};
  };
  const net::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{.tv_sec = kPatienceSeconds, .tv_usec = 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return broken();
  while (!request.empty()) {
    const ssize_t size = ::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL);
    if (size <= 0) return broken();
    request.remove_prefix(static_cast<std::size_t>(size));
  }
  std::string answer;
  std::array<char, 4096> buffer{};
  // An answer ends with a blank line; the socket stays open for the next question.
  while (answer.size() < kMostAnswer && !answer.ends_with("\n\n")) {
    const ssize_t size = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
    if (size < 0) return broken();
    if (size == 0) break;
    answer.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return answer;
}

Status WireGuard::set(const WireGuardSettings& settings, const std::optional<net::SocketAddress>& endpoint) {
  if (socket_.empty()) return set_kernel_wireguard(name_, settings, endpoint);
  const auto answer = ask(write_settings(settings, endpoint));
  if (!answer) return answer.error();
  const auto state = read_state(*answer);
  return state ? Status() : Status(state.error());
}

Status WireGuard::set_endpoint(const WireGuardKey& peer, const net::SocketAddress& endpoint) {
  if (socket_.empty()) return set_kernel_endpoint(name_, peer, endpoint);
  const auto answer = ask(write_endpoint(peer, endpoint));
  if (!answer) return answer.error();
  const auto state = read_state(*answer);
  return state ? Status() : Status(state.error());
}

Result<WireGuardState> WireGuard::state() {
  if (socket_.empty()) return kernel_wireguard(name_);
  const auto answer = ask("get=1\n\n");
  if (!answer) return answer.error();
  return read_state(*answer);
}

}  // namespace edge::agent::wan
