#include "compiler/link/path_value.h"

#include "base/path.h"

namespace edge::compiler::link {

std::optional<std::string> path_value(std::string_view written) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string escaped;
  escaped.reserve(written.size());
  for (const char c : written) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == ' ' || byte >= 0x80) {
      escaped += '%';
      escaped += kHex[byte >> 4];
      escaped += kHex[byte & 15];
    } else {
      escaped += c;
    }
  }
  std::string buffer(escaped.size() + 1, '\0');
  const auto path = normalise_path(escaped, buffer.data());
  if (!path) return std::nullopt;
  return std::string(*path);
}

std::optional<std::string> prefix_value(std::string_view written) {
  auto path = path_value(written);
  if (!path || path->ends_with("//")) return std::nullopt;
  if (path->size() > 1 && path->ends_with('/')) path->pop_back();
  return path;
}

}  // namespace edge::compiler::link
