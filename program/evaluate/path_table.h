// The path table of a host section: records of one width, each at the position determined by its path's hash
// (path_hash.h), with the path's text inside where it fits.
//
// The hash is public, so that authors of routes can construct paths with equal hashes. The records of such a host are
// sorted by (key, text) instead, without gaps, and found by binary search: the cost for other tenants stays bounded.
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

/// Returns the bytes of text that records of `stride` words have room for.
inline constexpr std::uint32_t path_room(std::uint32_t stride) {
  return stride * 4 - static_cast<std::uint32_t>(sizeof(PathRecord));
}

/// Returns PathRecord::key for a path of that hash and size: 24 bits of the hash, and the size or kFarPath.
inline std::uint32_t path_key(std::uint64_t hash, std::size_t size, std::uint32_t room) {
  return static_cast<std::uint32_t>(hash >> 40) << 8 | (size <= room ? static_cast<std::uint32_t>(size) : kFarPath);
}

/// Returns the position in the section of a text that does not fit its record.
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

/// Returns the paths of a checked host section, ascending by text.
std::vector<Path> paths_of(const SectionView& host);

/// Returns the number of records that a lookup reads in a sorted table.
inline std::uint32_t halvings(std::uint32_t places) { return static_cast<std::uint32_t>(std::bit_width(places)); }

/// Returns the record of a path, null when there is none: the simple form of runtime/match/decide.cc.
const PathRecord* find_path(const SectionView& host, std::uint64_t hash, std::string_view path);

/// Builds the path table of one host.
class PathTableBuilder {
 public:
  /// Adds a path, once; its text must stay valid until `store`.
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
