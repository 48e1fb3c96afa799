// Conditions and ranges of a request, answered from a stored response (RFC 9110 §13, §14; RFC 9111 §4.3.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/shape/cache/message.h"

namespace edge::runtime::cache {

/// What a condition compares with.
struct Representation {
  Validators validators;
  Seconds date = 0;  ///< Date of the response, or when it came
  std::uint64_t size = 0;
};

/// Weak comparison (RFC 9110 §8.8.3.2): `W/` aside.
bool same_etag(std::string_view a, std::string_view b);

/// Whether a stored 200 is answered 304: If-None-Match alone when it is there, else If-Modified-Since.
bool not_modified(const Request& request, const Representation& stored, Seconds now);

struct Range {
  std::uint64_t first = 0;
  std::uint64_t size = 0;
};
struct RangeChoice {
  enum class Kind : std::uint8_t { kWhole, kParts, kUnsatisfiable };
  Kind kind = Kind::kWhole;
  /// In the order in which they were asked for; none overlaps another.
  std::vector<Range> parts;
};
/// More ranges in one request are answered whole (RFC 9110 §17.15).
inline constexpr std::size_t kMaxRanges = 16;
/// Ranges with a gap smaller than this become one: what stands between two parts would be larger.
inline constexpr std::uint64_t kRangeGap = 80;
/// Which parts of a stored 200 a GET asks for (RFC 9110 §14.2). Another unit, too many ranges and what is no range are
/// answered whole, and so are those whose If-Range does not hold (§13.1.5).
RangeChoice choose_ranges(const Request& request, const Representation& stored, Seconds now);

}  // namespace edge::runtime::cache
