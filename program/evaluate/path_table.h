// The path table of a host section: records of one width, each at the place that its path's hash leads to
// (path_hash.h), with the text of the path inside where it fits.
//
// The hash is no secret, so whoever may write routes can write paths of equal hashes. Such a host's records ascend by
// (key, text) instead, without a gap, and are found by halving: what others may ask of it stays bounded.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "program/evaluate/path_hash.h"
#include "program/format/format.h"
#include "program/read.h"
#include "program/section_builder.h"

namespace edge::program {

/// Bytes of text that records of `stride` words have room for.
inline constexpr std::uint32_t path_room(std::uint32_t stride) {
  return stride * 4 - static_cast<std::uint32_t>(sizeof(PathRecord));
}

/// What PathRecord::key is for a path of that hash and size: 24 bits of the hash, and the size or kFarPath.
inline std::uint32_t path_key(std::uint64_t hash, std::size_t size, std::uint32_t room) {
  return static_cast<std::uint32_t>(hash >> 40) << 8 | (size <= room ? static_cast<std::uint32_t>(size) : kFarPath);
}

/// Where a text that does not fit its record stands in the section.
inline StringRef far_path(const PathRecord& record) {
  StringRef text;
  std::memcpy(&text, &record + 1, sizeof text);
  return text;
}

inline std::string_view path_text(const SectionView& host, const PathRecord& record) {
  const std::uint32_t size = record.key & 0xff;
  return size == kFarPath ? host.string(far_path(record))
                          : std::string_view(reinterpret_cast<const char*>(&record + 1), size);
}

struct Path {
  std::string_view text;
  Target32 exact;
  Target32 prefix;
};

/// The paths of a host section that was checked, ascending by text.
std::vector<Path> paths_of(const SectionView& host);

/// How many records a lookup looks at in a table that ascends.
inline std::uint32_t halvings(std::uint32_t places) { return static_cast<std::uint32_t>(std::bit_width(places)); }

/// The record of a path, null when there is none: what runtime/match/decide.cc does, slower.
const PathRecord* find_path(const SectionView& host, std::uint64_t hash, std::string_view path);

/// Collects the paths of one host.
class PathTableBuilder {
 public:
  /// A path is added once; its text has to live until `store`.
  void add(std::string_view path, Target32 exact, Target32 prefix);
  /// Stores the table, and sets `path_displacements`, `paths`, `path_stride`, `max_probe` and `prefix_depths`.
  void store(SectionBuilder& builder, HostHeader& header) const;

 private:
  std::uint32_t best_stride(std::uint64_t places) const;
  PathHashTable ascending_places(std::uint32_t stride) const;

  std::vector<Path> paths_;
  std::vector<std::uint64_t> hashes_;
  std::uint64_t prefix_depths_ = 0;
};

}  // namespace edge::program
