// What is known of a client's connection; the streams of one of HTTP/2 share it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/byte_stream.h"
#include "net/loop.h"
#include "net/socket.h"
#include "program/format/format.h"

namespace edge::runtime {

/// What the handshake told.
struct TlsFacts {
  /// Asked for with SNI, canonical (base/hostname.h); empty: none.
  std::string server_name;
  /// As OpenSSL calls them; of static lifetime.
  std::string_view version;
  std::string_view cipher;
};

struct ClientConnection {
  ClientConnection(const net::SocketAddress& peer, std::uint32_t slot);

  bool secure() const { return tls != nullptr; }
  std::string_view scheme() const { return secure() ? "https" : "http"; }
  std::string_view peer_text() const { return {peer_text_.data(), peer_text_size_}; }
  /// The address that a proxy before us told of.
  void set_peer(const IpAddress& address);

  /// The listening socket, as Worker::listen numbers it.
  std::uint32_t slot;
  IpAddress peer;
  std::uint16_t peer_port = 0;
  /// What the client connected to, where a backend is told of it; else port 0.
  net::SocketAddress local{};
  /// Null: plain text.
  std::shared_ptr<const TlsFacts> tls;
  /// Major version of HTTP.
  std::uint8_t http = 1;

 private:
  std::uint8_t peer_text_size_ = 0;
  std::array<char, 45> peer_text_;
};

/// The client's side of an exchange: where the body of the request comes from and the response goes.
struct ClientEnd {
  net::Channel& channel;
  net::Inlet& inlet;
  net::Outlet& outlet;
  /// The one place where the exchange waits.
  net::Waiter& waiter;
};

/// The PROXY header for a connection to `backend` on behalf of this client; empty: it wants none.
std::string header_for(const program::BackendRecord& backend, const ClientConnection& connection);

}  // namespace edge::runtime
