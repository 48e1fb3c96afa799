// Requests and replies of the small server.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/socket.h"

namespace edge::net::server {

/// The subject of a certificate that was verified by the server's CAs.
struct ClientName {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string serial{};  ///< serial number of the certificate: bytes, the most significant first
};

/// The peer of a connection.
struct Peer {
  SocketAddress address;
  bool tls = false;
  std::optional<ClientName> name{};
};

using FieldList = std::vector<std::pair<std::string, std::string>>;

/// A complete request: the handler is called after its body was read.
struct Request {
  std::string method;
  /// As sent, without the query; not decoded.
  std::string path;
  /// Without the `?`.
  std::string query;
  /// From the authority, or the Host field; empty: absent.
  std::string host;
  FieldList fields;
  std::string body;
  std::shared_ptr<const Peer> peer;

  /// Returns the value of the first such field; empty when there is none. `name` ignores case.
  std::string_view field(std::string_view name) const;
  bool has(std::string_view name) const;
};

/// A body that is produced in pieces. For the loop's thread; destroyed when the body has ended, or the client
/// disconnected.
class BodySource {
 public:
  enum class Next : std::uint8_t {
    kMore,        ///< appended something; call again when that was sent
    kNothingYet,  ///< `ready` is called once there is more
    kEnd,         ///< the body is complete; something may have been appended
  };
  virtual ~BodySource() = default;
  /// Appends the next piece. Never called before the client has accepted the previous one: this is the back-pressure.
  virtual Next next(std::string& out) = 0;
  /// Sets the callback once, before the first `next`. To be called on the loop's thread, from outside `next`.
  virtual void on_ready(std::function<void()> ready) = 0;
  /// Returns whether the body has no end of its own: when the server stops it ends normally. Others are aborted.
  virtual bool is_endless() const { return true; }
};

struct Reply {
  int status = 200;
  std::string content_type{};
  std::string body{};
  /// Other fields; neither Content-Type nor framing fields.
  FieldList fields{};
  /// Replaces `body`.
  std::unique_ptr<BodySource> stream{};
  /// Size of `stream` in bytes, if known: announced, and must be produced.
  std::optional<std::size_t> stream_size{};
  /// Trailers after `body`, for gRPC's status (RFC 9110 §6.5). Not sent to HTTP/1.0 clients.
  FieldList trailers{};
};

}  // namespace edge::net::server
