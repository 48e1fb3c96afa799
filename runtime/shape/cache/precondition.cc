#include "runtime/shape/cache/precondition.h"

#include <algorithm>
#include <optional>

#include "net/http1/char_tables.h"
#include "runtime/shape/cache/http_date.h"

namespace edge::runtime::cache {
namespace {

using net::http1::equals_ignoring_case;
using net::http1::is_blank;
using net::http1::Method;

bool is_weak(std::string_view etag) { return etag.starts_with("W/"); }
std::string_view opaque(std::string_view etag) { return is_weak(etag) ? etag.substr(2) : etag; }

/// Takes one entity tag off a list; a tag may hold commas (RFC 9110 §8.8.3). Empty at the end and at a fault.
std::string_view next_etag(std::string_view& list) {
  while (!list.empty() && (list.front() == ',' || is_blank(list.front()))) list.remove_prefix(1);
  const std::size_t open = is_weak(list) ? 2 : 0;
  if (list.size() <= open || list[open] != '"') return {};
  const std::size_t close = list.find('"', open + 1);
  if (close == std::string_view::npos) return {};
  const std::string_view etag = list.substr(0, close + 1);
  list.remove_prefix(close + 1);
  return etag;
}

bool none_match_names(const Request& request, std::string_view etag) {
  for (const Field& field : request.fields->all()) {
    if (!equals_ignoring_case(field.name, "if-none-match")) continue;
    std::string_view rest = field.value;
    if (rest == "*") return true;
    if (etag.empty()) continue;
    for (std::string_view listed = next_etag(rest); !listed.empty(); listed = next_etag(rest)) {
      if (same_etag(listed, etag)) return true;
    }
  }
  return false;
}

/// Strong comparison; a date is strong when it was not the second in which the response was made (RFC 9110 §8.8.2.2).
bool if_range_holds(const Request& request, const Representation& stored, Seconds now) {
  if (!request.if_range.here()) return true;
  if (!request.if_range.usable()) return false;
  const std::string_view value = request.if_range.value;
  if (value.starts_with('"')) return value == stored.validators.etag;
  if (is_weak(value)) return false;
  const auto asked = parse_http_date(value, now);
  const auto modified = parse_http_date(stored.validators.last_modified, now);
  return asked && modified && *asked == *modified && stored.date > *modified;
}

std::optional<std::uint64_t> digits(std::string_view& rest) {
  static constexpr std::size_t kMaxDigits = 18;
  const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (end == 0 || end > kMaxDigits) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : rest.substr(0, end)) value = value * 10 + static_cast<std::uint64_t>(c - '0');
  rest.remove_prefix(end);
  return value;
}

}  // namespace

bool same_etag(std::string_view a, std::string_view b) { return !a.empty() && opaque(a) == opaque(b); }

bool not_modified(const Request& request, const Representation& stored, Seconds now) {
  if (request.has_if_none_match) return none_match_names(request, stored.validators.etag);
  if (!request.if_modified_since.usable()) return false;
  const auto since = parse_http_date(request.if_modified_since.value, now);
  if (!since) return false;
  return parse_http_date(stored.validators.last_modified, now).value_or(stored.date) <= *since;
}

RangeChoice choose_range(const Request& request, const Representation& stored, Seconds now) {
  using Kind = RangeChoice::Kind;
  const RangeChoice whole{Kind::kWhole, 0, stored.size};
  if (request.method != Method::kGet || !request.range.usable()) return whole;
  std::string_view rest = request.range.value;
  static constexpr std::string_view kUnit = "bytes=";
  if (rest.size() < kUnit.size() || !equals_ignoring_case(rest.substr(0, kUnit.size()), kUnit)) return whole;
  if (!if_range_holds(request, stored, now)) return whole;
  rest.remove_prefix(kUnit.size());
  const auto first = digits(rest);
  if (rest.empty() || rest.front() != '-') return whole;
  rest.remove_prefix(1);
  const auto last = digits(rest);
  if (!rest.empty() || (!first && !last)) return whole;
  if (!first) {  // the last so many bytes
    const std::uint64_t size = std::min(*last, stored.size);
    if (size == 0) return {Kind::kUnsatisfiable, 0, 0};
    return {Kind::kPart, stored.size - size, size};
  }
  if (last && *last < *first) return whole;
  if (*first >= stored.size) return {Kind::kUnsatisfiable, 0, 0};
  const std::uint64_t end = last ? std::min(*last, stored.size - 1) + 1 : stored.size;
  return {Kind::kPart, *first, end - *first};
}

}  // namespace edge::runtime::cache
