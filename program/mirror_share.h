// The share of requests that a mirror copies, which is exact: whole percents, or a fraction.
#pragma once

#include <cstdint>
#include <string>

#include "program/format/treatments.h"
#include "program/read.h"

namespace edge::program {

struct MirrorShare {
  std::uint32_t numerator = 100;  ///< not more than the denominator
  std::uint32_t denominator = 100;

  bool operator==(const MirrorShare&) const = default;
};

/// Returns the one form of equal shares: of 100 where it is whole percents, else reduced. A denominator of 0, and a
/// share of more than all, are all.
MirrorShare reduced(MirrorShare share);

/// `section`: of the host that has the mirror.
MirrorShare share_of(const SectionView& section, const MirrorRecord& record);

/// Returns whether a request is copied. `random` is uniform, and differs for each request and mirror.
constexpr bool copies(MirrorShare share, std::uint64_t random) { return random % share.denominator < share.numerator; }

/// Returns `25%`, `0.5%`, `1/3`: percents to a tenth where that is exact.
std::string share_text(MirrorShare share);
/// Returns the same as a number.
double percent_of(MirrorShare share);

}  // namespace edge::program
