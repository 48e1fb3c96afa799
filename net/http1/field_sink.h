// Stores parsed fields in HeadFields, recognising names by a perfect hash computed at compile time.
#pragma once

#include <cstring>

#include "net/http1/head.h"

namespace edge::net::http1 {

namespace field_detail {

/// 32 bytes: an index becomes an address by a shift.
struct alignas(32) KnownName {
  char name[28] = {};
  std::uint8_t size = 0;
  bool hop_by_hop = false;
  bool kept = false;
};
static_assert(sizeof(KnownName) == 32);

enum Trait : std::uint8_t { H = 1, K = 2 };

inline constexpr std::array<KnownName, kKnownFieldCount> kKnownNames = [] {
  struct Row {
    std::string_view name;
    unsigned traits;
  };
  constexpr Row kRows[] = {
      {"", 0},
#define EDGE_KNOWN_FIELD(id, name, traits) {name, traits},
#include "net/http1/known_fields.def"
#undef EDGE_KNOWN_FIELD
  };
  std::array<KnownName, kKnownFieldCount> names{};
  for (std::size_t i = 0; i < kKnownFieldCount; ++i) {
    for (std::size_t k = 0; k < kRows[i].name.size(); ++k) names[i].name[k] = kRows[i].name[k];
    names[i].size = static_cast<std::uint8_t>(kRows[i].name.size());
    names[i].hop_by_hop = (kRows[i].traits & H) != 0;
    names[i].kept = (kRows[i].traits & K) != 0;
  }
  return names;
}();

/// Length, first and last two bytes distinguish all known names.
constexpr std::uint32_t name_key(std::size_t size, std::uint8_t first, std::uint16_t last) {
  return (static_cast<std::uint32_t>(size) | static_cast<std::uint32_t>(first) << 8 |
          static_cast<std::uint32_t>(last) << 16) |
         0x20202000;
}

struct NameHash {
  std::uint32_t multiplier = 0;
  std::array<std::uint8_t, 256> slots{};

  constexpr std::size_t slot(std::uint32_t key) const { return (key * multiplier) >> 24; }
};

inline constexpr NameHash kNameHash = [] {
  NameHash hash;
  for (std::uint32_t m = 0x9e3779b1;; m = m * 0x19660d + 0x3c6ef35f) {
    hash.multiplier = m | 1;
    hash.slots = {};
    bool clash = false;
    for (std::size_t i = 1; i < kKnownFieldCount && !clash; ++i) {
      const KnownName& known = kKnownNames[i];
      const auto byte = [&known](std::size_t k) { return static_cast<std::uint8_t>(known.name[k]); };
      const auto last = static_cast<std::uint16_t>(byte(known.size - 2u) | byte(known.size - 1u) << 8);
      std::uint8_t& entry = hash.slots[hash.slot(name_key(known.size, byte(0), last))];
      clash = entry != 0;
      entry = static_cast<std::uint8_t>(i);
    }
    if (!clash) return hash;
  }
}();

template <typename Word>
inline Word lower_word(const char* p) {
  Word word;
  std::memcpy(&word, p, sizeof(word));
  return word | static_cast<Word>(0x2020202020202020);
}

/// Compares `size` bytes of a valid token with a known name. Setting bit 5 folds case; among token characters it makes
/// no other two bytes equal that a known name holds (letters, digits, `-`).
[[gnu::always_inline]] inline bool same_name(const char* a, const char* b, std::size_t size) {
  if (size >= 8) {
    for (std::size_t i = 0; i + 8 < size; i += 8) {
      if (lower_word<std::uint64_t>(a + i) != lower_word<std::uint64_t>(b + i)) return false;
    }
    return lower_word<std::uint64_t>(a + size - 8) == lower_word<std::uint64_t>(b + size - 8);
  }
  if (size >= 4) {
    return lower_word<std::uint32_t>(a) == lower_word<std::uint32_t>(b) &&
           lower_word<std::uint32_t>(a + size - 4) == lower_word<std::uint32_t>(b + size - 4);
  }
  return lower_word<std::uint16_t>(a) == lower_word<std::uint16_t>(b) &&
         lower_word<std::uint16_t>(a + size - 2) == lower_word<std::uint16_t>(b + size - 2);
}

}  // namespace field_detail

/// `name` must be a token.
[[gnu::always_inline]] inline KnownField recognise_token(const char* name, std::size_t size) {
  using namespace field_detail;
  if (size < 2) return KnownField::kOther;
  std::uint16_t last;
  std::memcpy(&last, name + size - 2, sizeof(last));
  const std::size_t i = kNameHash.slots[kNameHash.slot(name_key(size, static_cast<std::uint8_t>(name[0]), last))];
  const KnownName& known = kKnownNames[i];
  return known.size == size && same_name(name, known.name, size) ? static_cast<KnownField>(i) : KnownField::kOther;
}

/// The parser's access to HeadFields.
struct FieldSink {
  HeadFields& fields;

  void clear() {
    fields.count_ = 0;
    fields.repeated_ = 0;
    fields.other_forwarded_ = false;
    fields.hop_ = {};
    fields.first_ = {};
  }

  /// Precondition: fewer than HeadFields::kMax fields so far.
  [[gnu::always_inline]] void add(std::string_view name, std::string_view value) {
    const std::size_t i = fields.count_++;
    fields.fields_[i] = {name, value};
    const KnownField known = recognise_token(name.data(), name.size());
    fields.known_[i] = known;
    if (known == KnownField::kOther) {
      if ((name[0] | 0x20) == 'x') mark_extension(i);
      return;
    }
    const auto number = static_cast<std::size_t>(known);
    std::uint8_t& first = fields.first_[number];
    if (first == 0) {
      first = static_cast<std::uint8_t>(i + 1);
    } else {
      fields.repeated_ |= std::uint64_t{1} << number;
    }
    if (field_detail::kKnownNames[number].hop_by_hop) mark_hop_by_hop(i);
  }

  /// Marks an unknown X- field. One that looks like a known one, or like X-Forwarded-*, is not forwarded (*safe*): CGI
  /// and similar backends read `_` as `-`, so X_Forwarded_For would pass for X-Forwarded-For.
  void mark_extension(std::size_t i);
  void mark_hop_by_hop(std::size_t i) { fields.hop_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void close(const char* lines_end) { fields.lines_end_ = lines_end; }
};

}  // namespace edge::net::http1
