// Session persistence: the client itself says which endpoint had its first request, by a cookie or header that only the
// controller's agents can make or read. Nothing is kept here, so that any agent, at any time, knows where it belongs.
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

/// Where a session's requests go.
struct SessionEndpoint {
  std::uint64_t backend_id = 0;
  net::SocketAddress address;
  friend bool operator==(const SessionEndpoint&, const SessionEndpoint&) = default;
};

/// The session of one request. A value that a stranger made up opens to nothing; one that was ours may name an endpoint
/// that is gone: whoever asks looks it up among those that take traffic.
class Affinity {
 public:
  /// Values of the cookie that are tried: a sibling of our host can set one of this name too.
  static constexpr int kMaxTried = 4;

  /// `settings` and `keys` must outlive it. `now`: Unix time in seconds. `secure`: the client's connection is
  /// encrypted.
  Affinity(const program::SessionSettings& settings, const net::tls::SealingKeys& keys,
           const net::http1::HeadFields& fields, std::uint64_t now, bool secure);

  /// nullopt: a new session begins.
  const std::optional<SessionEndpoint>& remembered() const { return remembered_; }

  /// To which backend the request goes, and whether to the endpoint of remembered().
  void choose(std::uint64_t backend_id, bool same_endpoint) {
    backend_id_ = backend_id;
    same_endpoint_ = same_endpoint && remembered_.has_value();
  }
  /// Null: any endpoint will do.
  const net::SocketAddress* wanted() const { return same_endpoint_ ? &remembered_->address : nullptr; }
  /// That endpoint answers, unless another is named after it.
  void answered_by(const net::SocketAddress& endpoint) { response_line_ = line({backend_id_, endpoint}); }
  /// What the client is told by it: a field line with its CRLF, or nothing.
  const std::string& response_line() const { return response_line_; }

  /// The field line that a response from there carries: empty where the client's value says it already.
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
