#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "compiler/emit/regex.h"
#include "program/sha256.h"

namespace edge::compiler::emit {
namespace {

/// A search costs little more with each pattern of a set, and much more with each set; making a set costs as much as
/// all its patterns.
constexpr std::size_t kLargestSet = 128;
/// Of a divided set, but for the last one.
constexpr std::size_t kSmallestSet = 32;
/// One pattern of so many ends a set.
constexpr std::uint64_t kEndsOneOf = 64;

bool ends_a_set(std::string_view pattern) { return hash_bytes(0, pattern) % kEndsOneOf == 0; }

}  // namespace

std::vector<std::size_t> regex_set_sizes(const std::vector<std::string>& patterns) {
  std::vector<std::size_t> sizes;
  if (patterns.empty()) return sizes;
  if (patterns.size() <= kLargestSet) return {patterns.size()};
  std::size_t size = 0;
  for (const std::string& pattern : patterns) {
    ++size;
    if (size < kLargestSet && (size < kSmallestSet || !ends_a_set(pattern))) continue;
    sizes.push_back(std::exchange(size, 0));
  }
  if (size > 0) sizes.push_back(size);
  return sizes;
}

std::uint64_t regex_set_id(const std::vector<std::string>& patterns) {
  // Cryptographic: nobody shall be able to write patterns that pass for those of another host.
  std::string text;
  for (const std::string& pattern : patterns) {
    const std::uint64_t size = pattern.size();
    text.append(reinterpret_cast<const char*>(&size), sizeof size).append(pattern);
  }
  const program::Hash hash = program::sha256(std::as_bytes(std::span(text)));
  std::uint64_t id = 0;
  std::memcpy(&id, hash.data(), sizeof id);
  return id == 0 ? 1 : id;
}

}  // namespace edge::compiler::emit
