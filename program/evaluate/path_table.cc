#include "program/evaluate/path_table.h"

#include <algorithm>
#include <array>
#include <compare>
#include <numeric>

#include "program/evaluate/lookup.h"

namespace edge::program {
namespace {

const PathRecord& record_at(const SectionView& host, std::uint32_t position) {
  const auto& header = host.header<HostHeader>();
  return *reinterpret_cast<const PathRecord*>(&host.array(header.paths)[std::size_t{position} * header.path_stride]);
}

/// In a table that ascends.
const PathRecord* search_path(const SectionView& host, std::uint32_t places, std::uint32_t key, std::string_view path) {
  for (std::uint32_t low = 0, high = places; low < high;) {
    const std::uint32_t middle = low + (high - low) / 2;
    const PathRecord& record = record_at(host, middle);
    const auto order = record.key != key ? record.key <=> key : path_text(host, record) <=> path;
    if (order == 0) return &record;
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return nullptr;
}

}  // namespace

std::vector<Path> paths_of(const SectionView& host) {
  const auto& header = host.header<HostHeader>();
  const auto words = host.array(header.paths);
  std::vector<Path> paths;
  for (std::size_t at = 0; at < words.size(); at += header.path_stride) {
    const auto& record = *reinterpret_cast<const PathRecord*>(&words[at]);
    if (record.key != kNoPath) paths.push_back({path_text(host, record), record.exact, record.prefix});
  }
  std::ranges::sort(paths, {}, &Path::text);
  return paths;
}

const PathRecord* find_path(const SectionView& host, std::uint64_t hash, std::string_view path) {
  const auto& header = host.header<HostHeader>();
  if (header.paths.count == 0) return nullptr;
  const auto displacements = host.array(header.path_displacements);
  const std::uint32_t places = header.paths.count / header.path_stride;
  const std::uint32_t key = path_key(hash, path.size(), path_room(header.path_stride));
  if (header.max_probe != 1) return search_path(host, places, key, path);
  const std::uint32_t bucket = path_bucket(hash, header.path_displacements.count - 1);
  const PathRecord& record = record_at(host, path_position(hash, displacements[bucket], places));
  return record.key == key && path_text(host, record) == path ? &record : nullptr;
}

void PathTableBuilder::add(std::string_view path, Target32 exact, Target32 prefix) {
  paths_.push_back({path, exact, prefix});
  hashes_.push_back(path_hash(path));
  if (prefix != kNone) prefix_depths_ |= std::uint64_t{1} << (std::ranges::count(path, '/') - 1);
}

/// The width at which the table takes the least room. A text outside costs a lookup one more wait, which is worth some
/// bytes in every other record.
std::uint32_t PathTableBuilder::best_stride(std::uint64_t places) const {
  constexpr std::uint64_t kFarCost = 32;
  std::array<std::uint64_t, kMaxPathStride + 1> far_from{};  // what the texts cost that need a wider record
  for (const Path& path : paths_) {
    const std::uint64_t wanted = (sizeof(PathRecord) + path.text.size() + 3) / 4;
    for (std::uint64_t stride = kMinPathStride; stride < std::min<std::uint64_t>(wanted, far_from.size()); ++stride)
      far_from[stride] += path.text.size() + kFarCost;
  }
  std::uint32_t best = kMinPathStride;
  const auto cost = [&](std::uint32_t stride) { return places * stride * 4 + far_from[stride]; };
  for (std::uint32_t stride = kMinPathStride; stride <= kMaxPathStride; ++stride)
    if (cost(stride) < cost(best)) best = stride;
  return best;
}

PathHashTable PathTableBuilder::ascending_places(std::uint32_t stride) const {
  const std::uint32_t room = path_room(stride);
  std::vector<std::uint32_t> order(paths_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t i) {
    return std::pair(path_key(hashes_[i], paths_[i].text.size(), room), paths_[i].text);
  });
  PathHashTable result{{0}, static_cast<std::uint32_t>(order.size()), std::vector<std::uint32_t>(order.size())};
  for (std::uint32_t position = 0; position < order.size(); ++position) result.position_of[order[position]] = position;
  return result;
}

void PathTableBuilder::store(SectionBuilder& builder, HostHeader& header) const {
  const auto count = static_cast<std::uint32_t>(paths_.size());
  const std::optional<PathHashTable> perfect = hash_paths(hashes_);
  const std::uint32_t stride = count == 0 ? 0 : best_stride(perfect ? perfect->places : count);
  const PathHashTable places = perfect ? *perfect : ascending_places(stride);
  const PathRecord none{kNoPath, kNone, kNone};
  std::vector<std::uint32_t> words(std::size_t{places.places} * stride);
  for (std::size_t at = 0; at < words.size(); at += stride) std::memcpy(&words[at], &none, sizeof none);
  for (std::size_t i = 0; i < paths_.size(); ++i) {
    const Path& path = paths_[i];
    const PathRecord record{path_key(hashes_[i], path.text.size(), path_room(stride)), path.exact, path.prefix};
    std::uint32_t* const at = &words[std::size_t{places.position_of[i]} * stride];
    std::memcpy(at, &record, sizeof record);
    const bool fits = path.text.size() <= path_room(stride);
    const StringRef far = fits ? StringRef{} : builder.string(path.text);
    std::memcpy(at + sizeof record / 4, fits ? static_cast<const void*>(path.text.data()) : &far,
                fits ? path.text.size() : sizeof far);
  }
  header.path_displacements = builder.array(places.displacements);
  header.paths = builder.array(words);
  header.path_stride = stride;
  header.max_probe = perfect ? std::min(count, 1U) : halvings(count);
  header.prefix_depths = prefix_depths_;
}

}  // namespace edge::program
