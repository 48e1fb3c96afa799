// Builds one section's bytes: strings and arrays after a header, in the order in which they are added, so that equal
// calls give equal bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "program/format/format.h"

namespace edge::program {

/// Offsets have 32 bits. A larger section makes a program that `read` rejects (kMaxProgramBytes).
class SectionBuilder {
 public:
  /// `size_hint`: approximate size of the section in bytes.
  explicit SectionBuilder(std::size_t header_size, std::size_t size_hint = 0);

  /// Stores a text, or returns its earlier copy.
  StringRef string(std::string_view text);

  template <typename T>
  ArrayRef<T> array(std::span<const T> items) {
    // Padding inside a record would copy uninitialised memory into the bytes.
    static_assert(std::is_trivially_copyable_v<T> && std::has_unique_object_representations_v<T>);
    return {append(items.data(), items.size_bytes(), alignof(T)), static_cast<std::uint32_t>(items.size())};
  }
  template <typename T>
  ArrayRef<T> array(const std::vector<T>& items) {
    return array(std::span<const T>(items));
  }

  template <typename Header>
  std::vector<std::byte> finish(const Header& header) && {
    static_assert(std::is_trivially_copyable_v<Header> && std::has_unique_object_representations_v<Header>);
    std::memcpy(bytes_.data(), &header, sizeof header);
    return std::move(bytes_);
  }

 private:
  std::uint32_t append(const void* data, std::size_t size, std::size_t alignment);
  void grow_index();

  std::vector<std::byte> bytes_;
  std::vector<StringRef> strings_;
  std::vector<std::uint32_t> index_;  ///< open addressing over strings_, kNone when free
};

/// The slots of a NameTable.
struct SlotTable {
  std::vector<std::uint32_t> slots;
  std::uint32_t max_probe = 0;
};

/// Builds slots: entries[i] is found under hashes[i]. Load at most 13/16, so that a probe always ends; grown twice at
/// most when probes would be longer than a few slots. Empty for no entries. Precondition: no entry above
/// kMaxTableEntry.
SlotTable build_slots(std::span<const std::uint64_t> hashes, std::span<const std::uint32_t> entries);
/// The same for the entries 0, 1, 2...
SlotTable build_slots(std::span<const std::uint64_t> hashes);

}  // namespace edge::program
