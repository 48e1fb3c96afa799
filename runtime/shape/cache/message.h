// What the cache needs of a request and of a response, read from their heads in one pass each. Views: valid as long as
// the heads.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "net/http1/head.h"
#include "runtime/shape/cache/directives.h"

namespace edge::runtime::cache {

/// A field that may occur once. A second occurrence makes it unusable, whatever its value.
struct Single {
  std::string_view value;
  std::uint8_t count = 0;

  bool here() const { return count != 0; }
  bool usable() const { return count == 1; }
};

struct Request {
  const net::http1::HeadFields* fields = nullptr;
  net::http1::Method method = net::http1::Method::kOther;
  RequestDirectives directives;
  /// The user was identified: by Authorization, or by a policy of this proxy (RFC 9111 §3.5).
  bool authorized = false;
  /// The request has Cookie, which may identify the user, though no policy verified it.
  bool has_cookie = false;
  bool has_if_none_match = false;
  /// If-Match or If-Unmodified-Since: only the origin can evaluate it (RFC 9111 §4.3.2).
  bool guarded = false;
  /// A field names another method or URI than the request line, and some backends go by it: no key has that one.
  bool overridden = false;
  Single if_modified_since;
  Single if_range;
  Single range;

  bool conditional() const { return has_if_none_match || if_modified_since.here(); }
};
Request read_request(net::http1::Method method, const net::http1::HeadFields& fields);

/// RFC 9110 §8.8. Empty where the response has none, or several.
struct Validators {
  std::string_view etag;
  std::string_view last_modified;

  bool any() const { return !etag.empty() || !last_modified.empty(); }
};

struct Response {
  const net::http1::HeadFields* fields = nullptr;
  std::uint16_t status = 0;
  ResponseDirectives directives;
  Validators validators;
  std::optional<Seconds> date;
  std::optional<Seconds> expires;  ///< 0 where the field is present and invalid (§5.3)
  Seconds age = 0;
  bool has_vary = false;
  bool vary_any = false;  ///< `Vary: *`
  bool sets_cookie = false;
};
Response read_response(std::uint16_t status, const net::http1::HeadFields& fields, Seconds now);

}  // namespace edge::runtime::cache
