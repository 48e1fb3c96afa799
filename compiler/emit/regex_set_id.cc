#include <cstring>
#include <span>

#include "compiler/emit/regex.h"
#include "program/sha256.h"

namespace edge::compiler::emit {

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
