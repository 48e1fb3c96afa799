#include "runtime/shape/cache/precondition.h"

#include <algorithm>
#include <optional>

#include "base/text/ascii.h"
#include "runtime/shape/cache/http_date.h"

namespace edge::runtime::cache {
namespace {

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
  const auto cache_request = parse_http_date(value, now);
  const auto modified = parse_http_date(stored.validators.last_modified, now);
  return cache_request && modified && *cache_request == *modified && stored.date > *modified;
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

/// The next member of a list of ranges, without the blanks around it. \returns false at the end.
bool next_range(std::string_view& list, std::string_view& member) {
  if (list.data() == nullptr) return false;
  const std::size_t comma = list.find(',');
  member = list.substr(0, comma);
  list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
  while (!member.empty() && is_blank(member.front())) member.remove_prefix(1);
  while (!member.empty() && is_blank(member.back())) member.remove_suffix(1);
  return true;
}

/// One range of a representation of `size` bytes (RFC 9110 §14.1.2); of size 0 when it cannot be satisfied. \returns
/// false for what is no range.
bool read_range(std::string_view text, std::uint64_t size, Range& range) {
  const auto first = digits(text);
  if (text.empty() || text.front() != '-') return false;
  text.remove_prefix(1);
  const auto last = digits(text);
  if (!text.empty() || (!first && !last)) return false;
  if (!first) {  // the last so many bytes
    range.size = std::min(*last, size);
    range.first = size - range.size;
    return true;
  }
  if (last && *last < *first) return false;
  if (*first >= size) return true;
  const std::uint64_t end = last ? std::min(*last, size - 1) + 1 : size;
  range = {*first, end - *first};
  return true;
}

/// Adds a range; those that it meets become one with it, in the place of the first of them (RFC 9110 §15.3.7.2).
void join_range(std::vector<Range>& parts, Range range) {
  std::size_t position = parts.size();
  for (std::size_t i = 0; i < parts.size();) {
    const Range other = parts[i];
    const std::uint64_t end = range.first + range.size;
    const std::uint64_t other_end = other.first + other.size;
    if (end + kRangeGap <= other.first || other_end + kRangeGap <= range.first) {
      ++i;
      continue;
    }
    range.first = std::min(range.first, other.first);
    range.size = std::max(end, other_end) - range.first;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
    position = std::min(position, i);
    // Larger now, it may meet one that it did not before.
    i = 0;
  }
  parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(std::min(position, parts.size())), range);
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

RangeChoice choose_ranges(const Request& request, const Representation& stored, Seconds now) {
  if (request.method != Method::kGet || !request.range.usable()) return {};
  std::string_view rest = request.range.value;
  static constexpr std::string_view kUnit = "bytes=";
  if (!starts_with_ignoring_case(rest, kUnit)) return {};
  if (!if_range_holds(request, stored, now)) return {};
  rest.remove_prefix(kUnit.size());
  RangeChoice choice{RangeChoice::Kind::kUnsatisfiable, {}};
  std::size_t listed = 0;
  // A list may have empty members (§5.6.1), which are as good as none.
  for (std::string_view member; next_range(rest, member);) {
    if (member.empty()) continue;
    Range range;
    if (++listed > kMaxRanges || !read_range(member, stored.size, range)) return {};
    if (range.size != 0) join_range(choice.parts, range);
  }
  if (listed == 0) return {};
  if (!choice.parts.empty()) choice.kind = RangeChoice::Kind::kParts;
  return choice;
}

}  // namespace edge::runtime::cache
