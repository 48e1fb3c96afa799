// Any bytes as a file of API keys: it is read in bounded time, says of each fault a line, and finds nobody by a key
// that is too short.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/policy/auth/api_key/api_keys.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  edge::runtime::auth::ApiKeys keys;
  keys.add(text);
  require(keys.faults().size() <= 21);
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return 0;
  const std::string* const name = keys.find(line.substr(colon + 1));
  // Of this line, or of a later one with the same key where this one is a comment or at fault.
  require(name == nullptr || text.find(*name + ":") != std::string_view::npos);
  require(keys.find("short") == nullptr);
  return 0;
}
