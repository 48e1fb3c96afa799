#include "base/hash.h"
#include "compiler/emit/regex.h"

namespace edge::compiler::emit {

std::uint64_t regex_set_id(const std::vector<std::string>& patterns) {
  constexpr std::uint64_t kSeed = 0x7265676578736574;
  std::uint64_t id = hash_mix(kSeed, patterns.size() + 1);
  for (const std::string& pattern : patterns) id = hash_bytes(id, pattern);
  return id == 0 ? 1 : id;
}

}  // namespace edge::compiler::emit
