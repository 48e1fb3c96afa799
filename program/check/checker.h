// Shared by the checks of all kinds of sections. Part of reading (read.h): no byte is trusted.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include "program/evaluate/lookup.h"
#include "program/read.h"

namespace edge::program {

/// Records the first error of one section. The checks return whether there was none so far.
class Checker {
 public:
  explicit Checker(const Section& section)
      : view_(section.view), size_(section.view.bytes().size()), budget_(size_), id_(section.id) {}

  const SectionView& view() const { return view_; }
  std::uint64_t id() const { return id_; }
  std::string fault() && { return std::move(fault_); }

  bool require(bool sound, const char* field) {
    if (!sound) [[unlikely]]
      fail(field);
    return sound;
  }
  bool require(bool sound, const char* field, std::size_t index) {
    if (!sound) [[unlikely]]
      fail(std::string(field) + " of record " + std::to_string(index));
    return sound;
  }

  /// Checks an array of the section. All arrays together must not be larger than the section: if they could overlap, a
  /// small section could cause much work.
  template <typename T>
  bool array(ArrayRef<T> ref, const char* field) {
    const std::uint64_t bytes = std::uint64_t{ref.count} * sizeof(T);
    if (!require(ref.offset % alignof(T) == 0 && ref.offset <= size_ && bytes <= size_ - ref.offset, field))
      return false;
    if (!require(bytes <= budget_, field)) return false;
    budget_ -= bytes;
    return true;
  }

  bool text(StringRef ref) const { return ref.offset <= size_ && ref.size <= size_ - ref.offset; }

  bool texts(ArrayRef<StringRef> ref, const char* field) {
    if (!array(ref, field)) return false;
    bool sound = true;
    for (const StringRef& item : view_.array(ref)) sound &= text(item);
    return require(sound, field);
  }

  /// Checks a secret's name.
  bool secret(const SecretRecord& record) const {
    return text(record.name_space) && text(record.name) && text(record.key);
  }
  bool secrets(ArrayRef<SecretRecord> ref, const char* field) {
    if (!array(ref, field)) return false;
    bool sound = true;
    for (const SecretRecord& item : view_.array(ref)) sound &= secret(item);
    return require(sound, field);
  }

  /// Checks a reference to one record or none, with `check_record`.
  template <typename T, typename Check>
  bool optional(ArrayRef<T> ref, const char* field, Check check_record) {
    if (!require(ref.count <= 1, field) || !array(ref, field)) return false;
    return ref.count == 0 || check_record(view_.array(ref).front());
  }

 private:
  void fail(std::string field) {
    if (fault_.empty()) fault_ = std::move(field);
  }

  SectionView view_;
  std::uint64_t size_;
  std::uint64_t budget_;
  std::uint64_t id_;
  std::string fault_;
};

inline bool index_or_none(std::uint32_t index, std::uint32_t count) { return index == kNone || index < count; }

/// Returns whether `part` is a run of complete records of `all`, which was checked.
template <typename T>
bool within(ArrayRef<T> part, ArrayRef<T> all) {
  if (part.offset < all.offset || (part.offset - all.offset) % sizeof(T) != 0) return part.count == 0;
  const std::uint64_t first = (part.offset - all.offset) / sizeof(T);
  return first + part.count <= all.count;
}

/// Checks that slots refer to entries accepted by `is_entry`, and that one is free, so that a probe ends.
template <typename IsEntry>
bool check_slots(Checker& check, ArrayRef<std::uint32_t> ref, const char* field, IsEntry is_entry) {
  if (!check.array(ref, field)) return false;
  if (ref.count == 0) return true;
  if (!check.require(std::has_single_bit(ref.count), field)) return false;
  std::uint32_t free = 0;
  bool sound = true;
  for (const std::uint32_t slot : check.view().array(ref)) {
    const bool is_free = slot == kFreeSlot;
    free += is_free;
    sound &= is_free || is_entry(slot_entry(slot));
  }
  return check.require(sound && free > 0, field);
}

inline bool check_cidrs(Checker& check, ArrayRef<CidrRecord> ref, const char* field) {
  if (!check.array(ref, field)) return false;
  bool sound = true;
  for (const CidrRecord& cidr : check.view().array(ref)) sound &= cidr.prefix_length <= 128;
  return check.require(sound, field);
}

// One per kind of section. Each stops at the first error, which the checker keeps.
void check_listeners(Checker& check);
void check_host(Checker& check);
void check_backends(Checker& check);
void check_policies(Checker& check);

}  // namespace edge::program
