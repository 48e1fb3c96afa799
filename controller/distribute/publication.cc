#include "controller/distribute/publication.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <tuple>
#include <utility>

#include "program/sha256.h"

namespace edge::controller {
namespace {

using program::FileHeader;
using program::Hash;
using program::SectionEntry;
using program::SignatureBlock;

/// Agents at more programs than this get their difference made for each alone.
constexpr std::size_t kKeptDifferences = 16;

std::tuple<std::uint32_t, std::uint64_t> key_of(const SectionEntry& entry) {
  return {static_cast<std::uint32_t>(entry.kind), entry.id};
}

Hash hash_of(const SectionEntry& entry) {
  Hash hash;
  std::ranges::copy(entry.sha256, hash.begin());
  return hash;
}

bool same_content(const SectionEntry& a, const SectionEntry& b) {
  return a.size == b.size && std::memcmp(a.sha256, b.sha256, sizeof a.sha256) == 0;
}

/// Those of `wanted` whose content `base` has under no name. The few are sorted, not the thousands.
std::vector<std::uint32_t> lacking_in(const Outline& base, const Outline& next,
                                      const std::vector<std::uint32_t>& wanted) {
  std::vector<std::pair<Hash, std::uint32_t>> lacking;
  for (const std::uint32_t i : wanted) lacking.emplace_back(hash_of(next.entries[i]), i);
  std::ranges::sort(lacking);
  std::vector<bool> held(lacking.size(), false);
  for (const SectionEntry& entry : base.entries) {
    const auto same = std::ranges::equal_range(lacking, hash_of(entry), {}, &std::pair<Hash, std::uint32_t>::first);
    for (auto one = same.begin(); one != same.end(); ++one)
      held[static_cast<std::size_t>(one - lacking.begin())] = true;
  }
  std::vector<std::uint32_t> left;
  for (std::size_t i = 0; i < lacking.size(); ++i) {
    if (!held[i]) left.push_back(lacking[i].second);
  }
  return left;
}

/// One content may stand under two names: it is sent once.
void keep_first_of_each(const Outline& next, std::vector<std::uint32_t>& sent) {
  std::ranges::stable_sort(sent, {}, [&](std::uint32_t i) { return hash_of(next.entries[i]); });
  const auto doubles = std::ranges::unique(sent, {}, [&](std::uint32_t i) { return hash_of(next.entries[i]); });
  sent.erase(doubles.begin(), doubles.end());
  std::ranges::sort(sent);
}

}  // namespace

Result<std::shared_ptr<const Outline>> outline_of(std::span<const std::byte> bytes) {
  const auto malformed = [] { return Error{ErrorCode::kInvalidArgument, "what is published is no program"}; };
  if (bytes.size() < sizeof(FileHeader) + sizeof(SignatureBlock)) return malformed();
  auto outline = std::make_shared<Outline>();
  std::memcpy(&outline->header, bytes.data(), sizeof(FileHeader));
  const FileHeader& header = outline->header;
  if (std::memcmp(header.magic, program::kMagic, sizeof program::kMagic) != 0 || header.file_size != bytes.size() ||
      header.section_count > program::kMaxSections) {
    return malformed();
  }
  const std::size_t manifest = sizeof(FileHeader) + std::size_t{header.section_count} * sizeof(SectionEntry);
  if (manifest + sizeof(SignatureBlock) > bytes.size()) return malformed();
  outline->entries.resize(header.section_count);
  std::memcpy(outline->entries.data(), bytes.data() + sizeof(FileHeader), manifest - sizeof(FileHeader));
  std::memcpy(&outline->signature, bytes.data() + manifest, sizeof(SignatureBlock));
  for (const SectionEntry& entry : outline->entries) {
    if (entry.offset > bytes.size() || entry.size > bytes.size() - entry.offset) return malformed();
  }
  if (!std::ranges::is_sorted(outline->entries, {}, key_of)) return malformed();
  outline->program = program::manifest_hash(bytes.first(manifest));
  return std::shared_ptr<const Outline>(std::move(outline));
}

Difference difference(const Outline* base, const Outline& next, std::span<const Hash> held) {
  Difference result;
  std::size_t old = 0;
  const std::size_t olds = base == nullptr ? 0 : base->entries.size();
  for (std::uint32_t i = 0; i < next.entries.size(); ++i) {
    const SectionEntry& entry = next.entries[i];
    while (old < olds && key_of(base->entries[old]) < key_of(entry)) {
      result.removed.push_back(static_cast<std::uint32_t>(old++));
    }
    const bool there = old < olds && key_of(base->entries[old]) == key_of(entry);
    if (there && same_content(base->entries[old++], entry)) continue;
    result.entries.push_back(i);
  }
  while (old < olds) result.removed.push_back(static_cast<std::uint32_t>(old++));
  if (base != nullptr && held.empty()) {
    result.sent = lacking_in(*base, next, result.entries);
  } else {
    std::ranges::copy_if(result.entries, std::back_inserter(result.sent),
                         [&](std::uint32_t i) { return !std::ranges::binary_search(held, hash_of(next.entries[i])); });
  }
  keep_first_of_each(next, result.sent);
  return result;
}

Result<std::shared_ptr<const Publication>> Publication::make(std::shared_ptr<const std::vector<std::byte>> program,
                                                             ProgramVersion version) {
  auto outline = outline_of(*program);
  if (!outline) return outline.error();
  std::shared_ptr<Publication> made(new Publication);
  made->outline_ = std::move(*outline);
  made->bytes_ = std::move(program);
  made->version_ = version;
  return std::shared_ptr<const Publication>(std::move(made));
}

std::shared_ptr<const Difference> Publication::from(const Outline& base) const {
  const std::lock_guard lock(mutex_);
  const auto found = differences_.find(base.program);
  if (found != differences_.end()) return found->second;
  auto made = std::make_shared<const Difference>(difference(&base, *outline_, {}));
  if (differences_.size() < kKeptDifferences) differences_.emplace(base.program, made);
  return made;
}

}  // namespace edge::controller
