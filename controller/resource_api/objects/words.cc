#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {

std::string words(std::initializer_list<std::string_view> parts) {
  std::size_t size = 0;
  for (const std::string_view part : parts) size += part.size();
  std::string all;
  all.reserve(size);
  for (const std::string_view part : parts) all += part;
  return all;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          constexpr std::string_view kHex = "0123456789abcdef";
          out += "\\x";
          out += kHex[static_cast<unsigned char>(c) >> 4];
          out += kHex[static_cast<unsigned char>(c) & 15];
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

std::string below(std::string_view path, std::string_view name) {
  return path.empty() ? std::string(name) : words({path, ".", name});
}

std::string below(std::string_view path, std::size_t index) { return words({path, "[", std::to_string(index), "]"}); }

std::string below_key(std::string_view path, std::string_view key) { return words({path, "[", key, "]"}); }

}  // namespace edge::resource_api::objects
