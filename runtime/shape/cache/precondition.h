// Conditions and ranges of a request, answered from a stored response (RFC 9110 §13, §14; RFC 9111 §4.3.2).
#pragma once

#include <cstdint>

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

struct RangeChoice {
  enum class Kind : std::uint8_t { kWhole, kPart, kUnsatisfiable };
  Kind kind = Kind::kWhole;
  std::uint64_t first = 0;
  std::uint64_t size = 0;
};
/// Which part of a stored 200 a GET asks for. Several ranges, another unit and what is no range are answered whole, and
/// so is a range whose If-Range does not hold (RFC 9110 §13.1.5, §14.2).
RangeChoice choose_range(const Request& request, const Representation& stored, Seconds now);

}  // namespace edge::runtime::cache
