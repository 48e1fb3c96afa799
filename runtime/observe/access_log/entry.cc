#include "runtime/observe/access_log/entry.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "runtime/observe/access_log/copy.h"

namespace edge::runtime {
namespace {

static_assert(std::is_trivially_copyable_v<LogFacts>);
using Sizes = std::array<std::uint16_t, kLogTexts>;
/// Longer texts do not come: names are bounded by the compiler, what a client says by Notes. Cut all the same.
constexpr std::size_t kMostText = 8192;

std::size_t kept(std::string_view text) { return std::min(text.size(), kMostText); }

}  // namespace

std::size_t LogEntry::flat_size() const {
  std::size_t size = sizeof(LogFacts) + sizeof(Sizes);
  for (const std::string_view text : texts) size += kept(text);
  return (size + 7) / 8 * 8;
}

void LogEntry::flatten(std::span<char> into) const {
  char* at = into.data();
  std::memcpy(at, &facts, sizeof(facts));
  at += sizeof(facts);
  Sizes sizes;
  std::ranges::transform(texts, sizes.begin(),
                         [](std::string_view text) { return static_cast<std::uint16_t>(kept(text)); });
  std::memcpy(at, &sizes, sizeof(sizes));
  at += sizeof(sizes);
  for (const std::string_view text : texts) at = copy_text(text.substr(0, kMostText), at);
}

LogEntry LogEntry::of(std::span<const char> flat) {
  LogEntry entry;
  const char* at = flat.data();
  std::memcpy(&entry.facts, at, sizeof(entry.facts));
  at += sizeof(entry.facts);
  Sizes sizes;
  std::memcpy(&sizes, at, sizeof(sizes));
  at += sizeof(sizes);
  for (std::size_t i = 0; i < kLogTexts; ++i) {
    entry.texts[i] = {at, sizes[i]};
    at += sizes[i];
  }
  return entry;
}

}  // namespace edge::runtime
