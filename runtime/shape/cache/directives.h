// Cache-Control of either side (RFC 9111 §5.2, RFC 5861), and CDN-Cache-Control in its place (RFC 9213), parsed once
// and bounded.
//
// Unparsable input never makes a response live longer: an invalid number is 0, two different values are 0, and a
// response field with invalid syntax means `no-store`. Unknown directives are ignored (§5.2.3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "net/http1/head.h"

namespace edge::runtime::cache {

/// Whole seconds: durations (delta-seconds, §1.2.2), or the time since 1970.
using Seconds = std::int64_t;

/// The value that a larger delta-seconds is clamped to (§1.2.2).
inline constexpr Seconds kLongest = Seconds{1} << 31;

/// §5.2.1. `max_stale` without a value is kLongest.
struct RequestDirectives {
  bool no_cache = false;
  bool no_store = false;
  bool only_if_cached = false;
  std::optional<Seconds> max_age;
  std::optional<Seconds> max_stale;
  std::optional<Seconds> min_fresh;
};

/// §5.2.2 and RFC 5861 §3, §4.
struct ResponseDirectives {
  static constexpr std::size_t kMaxLists = 4;

  bool no_store = false;
  bool no_cache = false;
  bool is_public = false;
  bool is_private = false;
  bool must_revalidate = false;
  bool proxy_revalidate = false;
  bool must_understand = false;
  /// From CDN-Cache-Control: Cache-Control and Expires are ignored (RFC 9213 §2.2).
  bool targeted = false;
  std::optional<Seconds> max_age;
  std::optional<Seconds> s_maxage;
  std::optional<Seconds> stale_while_revalidate;
  std::optional<Seconds> stale_if_error;
  /// The quoted lists of `no-cache="..."` and `private="..."`: fields that are not stored. Views.
  std::array<std::string_view, kMaxLists> field_lists{};
  std::size_t field_list_count = 0;

  std::span<const std::string_view> lists() const { return {field_lists.data(), field_list_count}; }
};

/// Parses all Cache-Control lines together; `Pragma: no-cache` where there is none (§5.4).
RequestDirectives read_request_directives(const net::http1::HeadFields& fields);
/// Parses CDN-Cache-Control where it is a dictionary with a member; else all Cache-Control lines together.
ResponseDirectives read_response_directives(const net::http1::HeadFields& fields);
/// Returns whether a comma-separated list contains a name, ignoring case.
bool list_has(std::string_view list, std::string_view name);
/// Parses delta-seconds; nullopt when the text is not one.
std::optional<Seconds> parse_delta(std::string_view text);

}  // namespace edge::runtime::cache
