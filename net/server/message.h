// What a handler of the small server is asked, and what it answers.
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

/// The subject of a certificate that an authority of the server's vouches for.
struct ClientName {
  std::string common_name;
  std::vector<std::string> organizations;
  std::string serial{};  ///< number of the certificate: bytes, the most significant first
};

/// Who is at the other end of a connection.
struct Peer {
  SocketAddress address;
  bool tls = false;
  std::optional<ClientName> name{};
};

using FieldList = std::vector<std::pair<std::string, std::string>>;

/// A whole request: its body was read before the handler is asked.
struct Request {
  std::string method;
  /// As sent, without the query; not decoded.
  std::string path;
  /// Without the `?`.
  std::string query;
  /// Of the authority, or the Host field; empty: none was named.
  std::string host;
  FieldList fields;
  std::string body;
  std::shared_ptr<const Peer> peer;

  /// Value of the first such field; empty when there is none. `name` ignores case.
  std::string_view field(std::string_view name) const;
  bool has(std::string_view name) const;
};

/// A body that comes bit by bit. Lives on the loop's thread; it is destroyed when the body has ended, or when the
/// client went away.
class BodySource {
 public:
  enum class Next : std::uint8_t {
    kMore,        ///< appended something; ask again when that was sent
    kNothingYet,  ///< `ready` is called once there is something to ask for
    kEnd,         ///< the body is complete; something may have been appended
  };
  virtual ~BodySource() = default;
  /// Appends the next piece. Never called while the client has yet to take the piece before: that is the back-pressure.
  virtual Next next(std::string& out) = 0;
  /// Set once, before the first `next`. Call it on the loop's thread, from outside `next`.
  virtual void on_ready(std::function<void()> ready) = 0;
  /// Has no end of its own: where the server stops it ends, and what was sent is good. Another is broken off there.
  virtual bool is_endless() const { return true; }
};

struct Reply {
  int status = 200;
  std::string content_type{};
  std::string body{};
  /// Others; neither Content-Type nor what frames the message.
  FieldList fields{};
  /// Instead of `body`.
  std::unique_ptr<BodySource> stream{};
  /// Bytes of `stream`, where they are known beforehand: so much is announced, and must come.
  std::optional<std::size_t> stream_size{};
  /// Behind `body`, as gRPC has its status (RFC 9110 §6.5). Clients of HTTP/1.0 do not get them.
  FieldList trailers{};
};

}  // namespace edge::net::server
