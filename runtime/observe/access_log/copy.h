// Copies short texts into a line inline, since a call of memcpy costs more than most of them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace edge::runtime {

template <typename Word>
Word copy_word(const char* from, char* to) {
  Word word;
  std::memcpy(&word, from, sizeof(word));
  std::memcpy(to, &word, sizeof(word));
  return word;
}

/// Copies a text, reading and writing nothing beyond its size: its ends are copied as words that overlap.
/// \returns the end.
inline char* copy_text(std::string_view text, char* to) {
  struct Sixteen {
    std::uint64_t low;
    std::uint64_t high;
  };
  const char* const from = text.data();
  const std::size_t size = text.size();
  if (size >= sizeof(Sixteen)) {
    for (std::size_t at = 0; at + sizeof(Sixteen) <= size; at += sizeof(Sixteen)) {
      copy_word<Sixteen>(from + at, to + at);
    }
    copy_word<Sixteen>(from + size - sizeof(Sixteen), to + size - sizeof(Sixteen));
  } else if (size >= 8) {
    copy_word<std::uint64_t>(from, to);
    copy_word<std::uint64_t>(from + size - 8, to + size - 8);
  } else if (size >= 4) {
    copy_word<std::uint32_t>(from, to);
    copy_word<std::uint32_t>(from + size - 4, to + size - 4);
  } else if (size != 0) {
    to[0] = from[0];
    to[size / 2] = from[size / 2];
    to[size - 1] = from[size - 1];
  }
  return to + size;
}

}  // namespace edge::runtime
