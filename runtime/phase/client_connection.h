// A client's connection; the streams of an HTTP/2 connection share it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/byte_stream.h"
#include "net/loop.h"
#include "net/socket.h"
#include "net/tls/handles.h"
#include "net/tls/peer_identity.h"
#include "program/format/format.h"

namespace edge::runtime {

/// The results of the TLS handshake.
struct TlsFacts {
  /// The SNI, canonical (base/hostname.h); empty: none.
  std::string server_name;
  /// OpenSSL's names; static lifetime.
  std::string_view version;
  std::string_view cipher;
  /// Whether the client's certificate verifies, as the backend is told (session/client_certificate.h); empty: none was
  /// requested.
  std::string client_verification;
  /// The certificate of another cluster, on a listener for those; null: elsewhere.
  net::tls::Handle<x509_st> cluster_certificate;
  /// Who the client is by its certificate; null: it has shown none, or was asked for none.
  std::unique_ptr<const net::tls::PeerIdentity> client;
};

struct ClientConnection {
  ClientConnection(const net::SocketAddress& peer, std::uint32_t slot);

  bool secure() const { return tls != nullptr; }
  std::string_view scheme() const { return secure() ? "https" : "http"; }
  std::string_view peer_text() const { return {peer_text_.data(), peer_text_size_}; }
  /// Sets the address that a proxy in front reported.
  void set_peer(const IpAddress& address);

  /// The listening socket, as numbered by Worker::listen.
  std::uint32_t slot;
  IpAddress peer;
  std::uint16_t peer_port = 0;
  /// The address that the client connected to, where a backend is sent it; else port 0.
  net::SocketAddress local{};
  /// Null: plain text.
  std::shared_ptr<const TlsFacts> tls;
  /// Major version of HTTP.
  std::uint8_t http = 1;

 private:
  std::uint8_t peer_text_size_ = 0;
  std::array<char, 45> peer_text_;
};

/// Returns whether another cluster has made it, with a certificate that was believed.
inline bool is_of_cluster(const ClientConnection& connection) {
  return connection.tls != nullptr && connection.tls->cluster_certificate != nullptr;
}

/// Returns what the client has shown in its handshake; null: nothing.
inline const net::tls::PeerIdentity* certificate_of(const ClientConnection& connection) {
  return connection.tls == nullptr ? nullptr : connection.tls->client.get();
}

/// The client side of an exchange: where the request's body is read from and the response is written to.
struct ClientEnd {
  net::Channel& channel;
  net::Inlet& inlet;
  net::Outlet& outlet;
  /// The only waiter of the exchange.
  net::Waiter& waiter;
};

/// Returns the PROXY header for a connection to `backend` on behalf of this client; empty: the backend uses none.
std::string header_for(const program::BackendRecord& backend, const ClientConnection& connection);
/// Returns the same for a connection of the proxy's own, behind which no client waits.
std::string own_header_for(const program::BackendRecord& backend);

}  // namespace edge::runtime
