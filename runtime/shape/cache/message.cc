#include "runtime/shape/cache/message.h"

#include <algorithm>
#include <array>

#include "base/field_name.h"
#include "base/text/ascii.h"
#include "runtime/shape/cache/http_date.h"

namespace edge::runtime::cache {
namespace {

using net::http1::HeadFields;
using net::http1::KnownField;

void take(Single& to, std::string_view value) {
  to.value = value;
  if (to.count < 2) ++to.count;
}

// Age is a single number; of a list the first is taken, and what is none is passed over (RFC 9111 §5.1).
Seconds read_age(std::string_view value) { return parse_delta(next_part(value, ',')).value_or(0); }

// Taken for the method by servers of REST, for the URI by IIS and those that imitate its rewriting.
bool overrides(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kNames = {"x-http-method", "x-http-method-override",
                                                             "x-method-override", "x-original-url", "x-rewrite-url"};
  return std::ranges::any_of(kNames, [&](std::string_view one) { return same_field(one, name); });
}

}  // namespace

Request read_request(net::http1::Method method, const HeadFields& fields) {
  Request request;
  request.fields = &fields;
  request.method = method;
  request.directives = read_request_directives(fields);
  request.authorized = fields.has(KnownField::kAuthorization);
  request.has_cookie = fields.has(KnownField::kCookie);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string_view name = fields[i].name;
    const std::string_view value = fields[i].value;
    if (fields.known(i) == KnownField::kRange) {
      take(request.range, value);
    } else if (fields.known(i) != KnownField::kOther) {
      continue;
    } else if ((name[0] | 0x20) == 'x') {
      request.overridden = request.overridden || overrides(name);
    } else if ((name[0] | 0x20) != 'i') {
      continue;
    } else if (equals_ignoring_case(name, "if-none-match")) {
      request.has_if_none_match = true;
    } else if (equals_ignoring_case(name, "if-modified-since")) {
      take(request.if_modified_since, value);
    } else if (equals_ignoring_case(name, "if-range")) {
      take(request.if_range, value);
    } else if (equals_ignoring_case(name, "if-match") || equals_ignoring_case(name, "if-unmodified-since")) {
      request.guarded = true;
    }
  }
  return request;
}

Response read_response(std::uint16_t status, const HeadFields& fields, Seconds now) {
  Response response;
  response.fields = &fields;
  response.status = status;
  response.directives = read_response_directives(fields);
  response.sets_cookie = fields.has(KnownField::kSetCookie);
  if (fields.has(KnownField::kDate) && !fields.repeated(KnownField::kDate)) {
    response.date = parse_http_date(fields.value(KnownField::kDate), now);
  }
  Single expires;
  Single etag;
  Single last_modified;
  bool age_read = false;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.known(i) != KnownField::kOther) continue;
    const std::string_view name = fields[i].name;
    const std::string_view value = fields[i].value;
    if (equals_ignoring_case(name, "etag")) {
      take(etag, value);
    } else if (equals_ignoring_case(name, "last-modified")) {
      take(last_modified, value);
    } else if (equals_ignoring_case(name, "expires")) {
      take(expires, value);
    } else if (equals_ignoring_case(name, "vary")) {
      response.has_vary = true;
      response.vary_any = response.vary_any || list_has(value, "*");
    } else if (!age_read && equals_ignoring_case(name, "age")) {
      age_read = true;
      response.age = read_age(value);
    }
  }
  // A date that is none lies in the past, above all the `0` (RFC 9111 §5.3); of two the response is stale (§4.2.1).
  if (expires.here() && !response.directives.targeted)
    response.expires = expires.usable() ? parse_http_date(expires.value, now).value_or(0) : 0;
  if (etag.usable()) response.validators.etag = etag.value;
  if (last_modified.usable()) response.validators.last_modified = last_modified.value;
  return response;
}

}  // namespace edge::runtime::cache
