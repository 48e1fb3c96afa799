// A request that owns its text, and the one line that golden cases and counterexamples write it as:
//   GET http://host[:port]/path?query -H 'name: value' ... --claim 'name=value' ... [from IP] [to IP]
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/field.h"
#include "base/ip.h"
#include "program/request.h"

namespace edge::reference {

struct OwnedRequest {
  std::string method = "GET";
  /// Canonical, as a RequestView's.
  std::string host;
  std::string path = "/";
  std::string query;
  std::vector<std::pair<std::string, std::string>> headers;
  /// Of the token that was verified; a name that occurs again is a list.
  std::vector<std::pair<std::string, std::string>> claims{};
  IpAddress source;
  std::uint16_t port = 80;
  /// The address that the client connected to; unset: whichever is bound.
  std::optional<IpAddress> destination;
};

/// Holds the Field array that a RequestView points to; keep both alive while the view is in use.
class RequestViewOf {
 public:
  explicit RequestViewOf(const OwnedRequest& request);
  RequestViewOf(const RequestViewOf&) = delete;
  RequestViewOf& operator=(const RequestViewOf&) = delete;
  const program::RequestView& view() const { return view_; }

 private:
  std::vector<std::pair<std::string, std::string>> claims_;  ///< as fields (program/claim_field.h)
  std::vector<Field> fields_;
  program::RequestView view_;
};

/// What a line of requests.txt means to the proxy: host and path in the form that matching sees.
struct ParsedRequest {
  /// Unset: refused with 400 before matching; `fault` says why.
  std::optional<OwnedRequest> request;
  std::string fault;
};
ParsedRequest parse_request_line(std::string_view line);
std::string request_line(const OwnedRequest& request);

}  // namespace edge::reference
