// Any bytes as the host and the path of a request: what is accepted has one form, in which no rule is bypassed, and
// stays as it is when it is normalised again. The first byte chooses the gateway's rules of paths; the host ends at
// `\n`.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/hostname.h"
#include "base/path.h"
#include "tests/fuzz/require.h"

namespace {

using namespace edge;

constexpr auto kNone = std::string_view::npos;

/// Of the exact size, so that an access past its end is found.
std::unique_ptr<char[]> exact(std::string_view text, std::size_t room) {
  auto copy = std::make_unique<char[]>(room);
  std::copy(text.begin(), text.end(), copy.get());
  return copy;
}

void check_host(std::string_view text) {
  const auto raw = exact(text, text.size());
  char buffer[256];
  const auto host = canonical_host({raw.get(), text.size()}, buffer);
  if (!host) return;
  require(!host->empty() && host->size() <= 255 && !host->ends_with('.'));
  require(host->find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ/\\@%?# ") == kNone);
  require(host->front() == '[' || (host->find(':') == kNone && host->find("..") == kNone));
  char again[256];
  require(canonical_host(*host, again) == host);
}

void require_normal(std::string_view path) {
  const auto buffer = exact({}, path.size() + 1);
  require(path.starts_with('/') && normalise_path(path, buffer.get()) == path);
  const std::string closed = std::string(path) + "/";
  require(closed.find("/./") == kNone && closed.find("/../") == kNone && path.find("%00") == kNone);
}

void check_path(const PathRules& rules, std::string_view text) {
  const auto raw = exact(text, text.size());
  const auto buffer = exact({}, text.size() + 1);
  const auto normal = normalise_path({raw.get(), text.size()}, buffer.get());
  if (!normal) return;
  require(normal->size() <= text.size());
  require_normal(*normal);

  const auto apart = exact({}, normal->size() + 1);
  const auto ruled = apply_path_rules(rules, *normal, apart.get());
  const std::string expected(ruled.value_or(""));
  // Where the path lies in the buffer already it is changed there.
  const auto in_place = exact(*normal, normal->size() + 1);
  const auto same = apply_path_rules(rules, {in_place.get(), normal->size()}, in_place.get());
  require(ruled.has_value() == same.has_value() && same.value_or("") == expected);
  if (!ruled) return;
  require(expected.size() <= normal->size());
  require_normal(expected);
  require(!rules.merge_slashes || expected.find("//") == kNone);
  require(!rules.reject_parameters || (expected.find(';') == kNone && expected.find("%3B") == kNone));
  require(rules.escaped_slashes == EscapedSlashes::kKeep ||
          (expected.find("%2F") == kNone && expected.find("%5C") == kNone));
  const auto again = exact({}, expected.size() + 1);
  require(apply_path_rules(rules, expected, again.get()) == expected);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const PathRules rules{.merge_slashes = (data[0] & 1) != 0,
                        .escaped_slashes = static_cast<EscapedSlashes>((data[0] >> 1) % 3),
                        .reject_parameters = (data[0] & 0x40) != 0};
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t end = std::min(text.find('\n'), text.size());
  check_host(text.substr(0, end));
  check_path(rules, text.substr(std::min(end + 1, text.size())));
  return 0;
}
