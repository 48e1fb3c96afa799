// The path table of a host section: records and texts side by side, found through hashed slots.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "program/format.h"
#include "program/section_builder.h"

namespace edge::program {

/// The record at a place that a slot names, or that next_path found, in the words of HostHeader::paths.
inline const PathRecord& path_at(const std::uint32_t* paths, std::uint32_t place) {
  return *reinterpret_cast<const PathRecord*>(paths + place);
}

inline std::string_view path_text(const PathRecord& record) {
  return {reinterpret_cast<const char*>(&record + 1), record.size};
}

/// Words that a record with a text of `size` bytes takes.
inline std::uint64_t path_words(std::uint64_t size) { return sizeof(PathRecord) / 4 + (size + 3) / 4; }

/// Calls `visit` with each record, in the order in which they are stored.
template <typename Visit>
void for_each_path(std::span<const std::uint32_t> paths, Visit visit) {
  for (std::uint64_t place = 0; place < paths.size();) {
    const PathRecord& record = path_at(paths.data(), static_cast<std::uint32_t>(place));
    visit(record);
    place += path_words(record.size);
  }
}

/// Collects the paths of one host.
class PathTableBuilder {
 public:
  /// A path is added once.
  void add(std::string_view path, Target32 exact, Target32 prefix);
  /// Stores the table, and sets `path_slots`, `paths`, `max_probe` and `prefix_depths`. More paths than slots can point
  /// into (64 MiB of records) make a section that every reader refuses.
  void store(SectionBuilder& builder, HostHeader& header) const;

 private:
  std::vector<std::uint32_t> words_;
  std::vector<std::uint64_t> hashes_;
  std::vector<std::uint32_t> places_;
  std::uint64_t prefix_depths_ = 0;
};

}  // namespace edge::program
