#include "program/evaluate/lookup.h"

namespace edge::program {

std::uint64_t name_hash(std::string_view name) {
  std::uint64_t hash = kNameSeed;
  std::size_t end = name.size();
  for (;;) {
    const std::size_t dot = end == 0 ? std::string_view::npos : name.rfind('.', end - 1);
    const std::size_t begin = dot == std::string_view::npos ? 0 : dot + 1;
    hash = name_hash_step(hash, name.substr(begin, end - begin));
    if (begin == 0) return hash;
    end = dot;
  }
}

std::uint64_t path_hash(std::string_view path) {
  std::uint64_t hash = kPathSeed;
  std::size_t begin = 1;
  for (;;) {
    const std::size_t slash = path.find('/', begin);
    if (slash == std::string_view::npos) return path_hash_step(hash, path.substr(begin));
    hash = path_hash_step(hash, path.substr(begin, slash - begin));
    begin = slash + 1;
  }
}

}  // namespace edge::program
