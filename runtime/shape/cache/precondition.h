// Conditional and range requests, answered from a stored response (RFC 9110 §13, §14; RFC 9111 §4.3.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/shape/cache/message.h"

namespace edge::runtime::cache {

/// The values of a stored response that a condition is compared with.
struct Representation {
  Validators validators;
  Seconds date = 0;  ///< the Date field, or the time of arrival
  std::uint64_t size = 0;
};

/// Compares weakly (RFC 9110 §8.8.3.2): ignores `W/`.
bool same_etag(std::string_view a, std::string_view b);

/// Returns whether a stored 200 is answered with 304: by If-None-Match alone when present, else by If-Modified-Since.
bool not_modified(const Request& request, const Representation& stored, Seconds now);

struct Range {
  std::uint64_t first = 0;
  std::uint64_t size = 0;
};
struct RangeChoice {
  enum class Kind : std::uint8_t { kWhole, kParts, kUnsatisfiable };
  Kind kind = Kind::kWhole;
  /// In the order of the request, without overlaps.
  std::vector<Range> parts;
};
/// A request for more ranges than this is answered with the whole body (RFC 9110 §17.15).
inline constexpr std::size_t kMaxRanges = 16;
/// Ranges with a smaller gap in bytes are merged: the headers between two parts would be larger.
inline constexpr std::uint64_t kRangeGap = 80;
/// Returns which ranges of a stored 200 a GET asks for (RFC 9110 §14.2). Unknown units, too many ranges, invalid ranges
/// and a failed If-Range (§13.1.5) are answered with the whole body.
RangeChoice choose_ranges(const Request& request, const Representation& stored, Seconds now);

}  // namespace edge::runtime::cache
