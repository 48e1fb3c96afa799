#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "program/dump/settings_tree.h"
#include "program/format/records.h"
#include "program/sha256.h"

namespace edge::program {

std::string rate_key_text(const SectionView& section, const RateKeyRecord& part) {
  static constexpr std::array<const char*, 9> kKeys = {
      "", "source-ip", "header:", "cookie:", "query:", "jwt:", "host", "path", "identity"};
  return kKeys[static_cast<std::size_t>(part.key)] + std::string(section.string(part.name));
}

std::string body_text(std::string_view body) {
  constexpr std::size_t kMostShown = 200;
  constexpr std::size_t kDigits = 16;
  const bool shown = body.size() <= kMostShown &&
                     std::ranges::all_of(body, [](char c) { return c == '\n' || c == '\t' || (c >= ' ' && c <= '~'); });
  if (shown) return std::string(body);
  const Hash hash = sha256(std::as_bytes(std::span(body)));
  return std::to_string(body.size()) + " bytes, SHA-256 " + to_hex(hash).substr(0, kDigits);
}

}  // namespace edge::program
