#include "runtime/policy/auth/api_key/api_keys.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/text/base64.h"
#include "program/sha256.h"

namespace edge::runtime::auth {
namespace {

/// Further ones are only counted.
constexpr std::size_t kMostFaults = 20;
constexpr std::size_t kMaxNameBytes = 255;
constexpr std::string_view kHashed = "{SHA256}";

bool is_name(std::string_view name) {
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  return !name.empty() && name.size() <= kMaxNameBytes && std::ranges::none_of(name, control);
}

bool is_key(std::string_view key) {
  return key.size() >= kLeastApiKeyBytes && key.size() <= kMaxApiKeyBytes &&
         std::ranges::all_of(key, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

program::Hash hash_of(std::string_view key) { return program::sha256(std::as_bytes(std::span(key))); }

/// nullopt: neither a key nor the hash of one.
std::optional<program::Hash> stored(std::string_view text) {
  if (!text.starts_with(kHashed)) return is_key(text) ? std::optional(hash_of(text)) : std::nullopt;
  const auto bytes = from_base64(text.substr(kHashed.size()));
  program::Hash hash{};
  if (!bytes || bytes->size() != hash.size()) return std::nullopt;
  std::ranges::copy(*bytes, reinterpret_cast<char*>(hash.data()));
  return hash;
}

}  // namespace

Digest ApiKeys::place_of(const program::Hash& hash) const {
  return digests_.of({std::string_view(reinterpret_cast<const char*>(hash.data()), hash.size())});
}

void ApiKeys::add(std::string_view text) {
  if (text.size() > kMaxApiKeysBytes) {
    faults_.emplace_back("larger than 16 MiB");
    return;
  }
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    ++number;
    if (!line.empty() && line.front() != '#') add_line(line, number);
  }
}

void ApiKeys::add_line(std::string_view line, std::size_t number) {
  const auto fault = [&](std::string_view what) {
    if (faults_.size() == kMostFaults) faults_.emplace_back("further lines are at fault");
    if (faults_.size() < kMostFaults) faults_.push_back("line " + std::to_string(number) + ": " + std::string(what));
  };
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return fault("no `name:key`");
  const std::string_view name = line.substr(0, colon);
  if (!is_name(name)) return fault("a name that is empty, longer than 255 bytes or has control bytes");
  const auto hash = stored(line.substr(colon + 1));
  if (!hash) return fault("no key of 16 to 512 printable characters, and no `{SHA256}` with 32 bytes in base64");
  if (names_.size() == kMaxApiKeys) return fault("more than 200,000 keys");
  const auto [known, added] = names_.try_emplace(place_of(*hash), name);
  // It would tell the backend of the wrong one.
  if (!added && known->second != name) fault("a key that has another name above");
}

const std::string* ApiKeys::find(std::string_view key) const {
  if (!is_key(key)) return nullptr;
  const auto found = names_.find(place_of(hash_of(key)));
  return found == names_.end() ? nullptr : &found->second;
}

}  // namespace edge::runtime::auth
