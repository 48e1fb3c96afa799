#include "schemas/yaml_text.h"

#include <algorithm>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/text/ascii.h"

namespace edge::schemas {
namespace {

using Json = nlohmann::ordered_json;

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Whether a plain scalar reads back as this string in YAML 1.1 (kubectl's) and 1.2. Cautious: a doubt means quotes.
bool plain(std::string_view text) {
  if (text.empty() || !letter(text.front()) || text.back() == ' ' || text.back() == ':') return false;
  for (const std::string_view word : {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}) {
    if (equals_ignoring_case(text, word)) return false;
  }
  if (text.find(": ") != std::string_view::npos || text.find(" #") != std::string_view::npos) return false;
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

std::string scalar(const Json& value) {
  if (!value.is_string()) return value.dump();
  const auto& text = value.get_ref<const std::string&>();
  if (plain(text)) return text;
  const bool printable = std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
  if (!printable) return value.dump();
  // Single quotes leave backslashes alone, which patterns are full of.
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

bool is_block(const Json& value) { return value.is_structured() && !value.empty(); }

void print(const Json& value, std::size_t indent, std::string& out);

/// `value` behind a `key:` or a `-` that is already written.
void print_behind(const Json& value, std::size_t indent, std::string& out) {
  if (is_block(value)) {
    out += '\n';
    print(value, indent, out);
  } else {
    out += " " + scalar(value) + "\n";
  }
}

void print(const Json& value, std::size_t indent, std::string& out) {
  const std::string margin(indent, ' ');
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      out += margin + (plain(key) ? key : scalar(key)) + ":";
      print_behind(child, indent + (child.is_array() ? 0 : 2), out);
    }
    return;
  }
  for (const Json& item : value) {
    if (!is_block(item)) {
      out += margin + "- " + scalar(item) + "\n";
      continue;
    }
    // The first line of a block stands behind the dash.
    std::string block;
    print(item, indent + 2, block);
    block[indent] = '-';
    out += block;
  }
}

}  // namespace

std::string yaml_text(const Json& value) {
  if (!is_block(value)) return scalar(value) + "\n";
  std::string out;
  print(value, 0, out);
  return out;
}

}  // namespace edge::schemas
