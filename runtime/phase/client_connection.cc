#include "runtime/phase/client_connection.h"

#include <algorithm>
#include <cstring>

#include "net/proxy_protocol.h"

namespace edge::runtime {

ClientConnection::ClientConnection(const net::SocketAddress& peer_address, std::uint32_t slot_of_listener)
    : slot(slot_of_listener), peer_port(peer_address.port) {
  set_peer(peer_address.address);
}

void ClientConnection::set_peer(const IpAddress& address) {
  peer = address;
  const std::string text = to_string(address);
  peer_text_size_ = static_cast<std::uint8_t>(std::min(text.size(), peer_text_.size()));
  std::memcpy(peer_text_.data(), text.data(), peer_text_size_);
}

namespace {

net::ProxyVersion version_of(program::ProxyProtocol protocol) {
  return protocol == program::ProxyProtocol::kV1 ? net::ProxyVersion::kV1 : net::ProxyVersion::kV2;
}

}  // namespace

std::string header_for(const program::BackendRecord& backend, const ClientConnection& connection) {
  if (backend.proxy_protocol == program::ProxyProtocol::kNone) return {};
  return net::write_proxy_header(version_of(backend.proxy_protocol), {connection.peer, connection.peer_port},
                                 connection.local);
}

std::string own_header_for(const program::BackendRecord& backend) {
  if (backend.proxy_protocol == program::ProxyProtocol::kNone) return {};
  return net::write_own_proxy_header(version_of(backend.proxy_protocol));
}

}  // namespace edge::runtime
