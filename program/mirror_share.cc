#include "program/mirror_share.h"

#include <numeric>

namespace edge::program {

MirrorShare reduced(MirrorShare share) {
  if (share.denominator == 0 || share.numerator >= share.denominator) return {};
  const std::uint64_t percents = std::uint64_t{share.numerator} * 100;
  if (percents % share.denominator == 0) return {static_cast<std::uint32_t>(percents / share.denominator), 100};
  const std::uint32_t divisor = std::gcd(share.numerator, share.denominator);
  return {share.numerator / divisor, share.denominator / divisor};
}

MirrorShare share_of(const SectionView& section, const MirrorRecord& record) {
  if ((record.share & kMirrorFractionBit) == 0) return {record.share, 100};
  const FilterRecord& details = section.array(section.header<HostHeader>().filters)[record.details - 1];
  return {record.share & ~kMirrorFractionBit, details.detail};
}

std::string share_text(MirrorShare share) {
  const std::uint64_t tenths = std::uint64_t{share.numerator} * 1000;
  if (tenths % share.denominator != 0) {
    return std::to_string(share.numerator) + "/" + std::to_string(share.denominator);
  }
  const std::uint64_t count = tenths / share.denominator;
  return std::to_string(count / 10) + (count % 10 == 0 ? "" : "." + std::to_string(count % 10)) + "%";
}

double percent_of(MirrorShare share) { return 100.0 * share.numerator / share.denominator; }

}  // namespace edge::program
