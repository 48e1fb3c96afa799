#include "program/path_table.h"

#include <algorithm>
#include <cstring>

#include "program/lookup.h"

namespace edge::program {

void PathTableBuilder::add(std::string_view path, Target32 exact, Target32 prefix) {
  const std::size_t place = words_.size();
  words_.resize(place + path_words(path.size()));
  const PathRecord record{static_cast<std::uint32_t>(path.size()), exact, prefix};
  std::memcpy(words_.data() + place, &record, sizeof record);
  std::memcpy(words_.data() + place + sizeof record / 4, path.data(), path.size());
  places_.push_back(static_cast<std::uint32_t>(place));
  hashes_.push_back(path_hash(path));
  if (prefix != kNone) prefix_depths_ |= std::uint64_t{1} << (std::ranges::count(path, '/') - 1);
}

void PathTableBuilder::store(SectionBuilder& builder, HostHeader& header) const {
  const SlotTable table = build_slots(hashes_, places_);
  header.path_slots = builder.array(table.slots);
  header.max_probe = words_.size() <= kMaxTableEntry ? table.max_probe : kNone;
  header.prefix_depths = prefix_depths_;
  header.paths = builder.array(words_);
}

}  // namespace edge::program
