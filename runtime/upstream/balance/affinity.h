// Session persistence: the client stores the endpoint of its session, in a cookie or header that only agents of the
// controller can make or read. The proxy keeps no state, so that any agent can continue a session.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http1/head.h"
#include "net/socket.h"
#include "net/tls/sealing.h"
#include "program/filters.h"

namespace edge::runtime {

/// The endpoint of a session.
struct SessionEndpoint {
  std::uint64_t backend_id = 0;
  net::SocketAddress address;
  friend bool operator==(const SessionEndpoint&, const SessionEndpoint&) = default;
};

/// The session of one request. A value made up by a client cannot be decrypted; a valid one may name an endpoint that
/// is gone: the caller checks that it takes traffic.
class Affinity {
 public:
  /// How many cookies of the name are tried: a sibling host can set one too.
  static constexpr int kMaxTried = 4;

  /// `settings` and `keys` must outlive this object. `now`: Unix time in seconds. `secure`: the client's connection is
  /// encrypted.
  Affinity(const program::SessionSettings& settings, const net::tls::SealingKeys& keys,
           const net::http1::HeadFields& fields, std::uint64_t now, bool secure);

  /// Returns the session's endpoint; nullopt: a new session begins.
  const std::optional<SessionEndpoint>& remembered() const { return remembered_; }

  /// Sets the backend that the request goes to, and whether it should go to the endpoint of remembered().
  void choose(std::uint64_t backend_id, bool same_endpoint) {
    backend_id_ = backend_id;
    same_endpoint_ = same_endpoint && remembered_.has_value();
  }
  /// Returns the wanted endpoint; null: any.
  const net::SocketAddress* wanted() const { return same_endpoint_ ? &remembered_->address : nullptr; }
  /// Sets the endpoint that answers; the last call counts.
  void answered_by(const net::SocketAddress& endpoint) { response_line_ = line({backend_id_, endpoint}); }
  /// Returns the header line for the response, with its CRLF; empty: none is needed.
  const std::string& response_line() const { return response_line_; }

  /// Returns the header line for a response from this endpoint: empty where the client's value is the same.
  std::string line(const SessionEndpoint& answered) const;

 private:
  void read(std::string_view sealed);

  program::SessionSettings settings_;
  const net::tls::SealingKeys& keys_;
  std::uint64_t now_;
  bool secure_;
  int tried_ = 0;
  std::optional<SessionEndpoint> remembered_;
  std::uint64_t began_ = 0;
  std::uint64_t used_ = 0;
  std::uint64_t backend_id_ = 0;
  bool same_endpoint_ = false;
  std::string response_line_;
};

}  // namespace edge::runtime
