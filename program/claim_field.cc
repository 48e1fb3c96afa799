#include "program/claim_field.h"

#include <algorithm>
#include <ranges>

#include "base/text/ascii.h"

namespace edge::program {
namespace {

constexpr std::string_view kBegin = ":claim ";
constexpr std::string_view kHas = " has ";

bool stays(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' || c == '/' || c == ':';
}

/// Without blanks and capital letters.
void append_escaped(std::string_view text, std::string& to) {
  static constexpr char kHex[] = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (stays(c)) {
      to += c;
    } else {
      to += {'^', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (stays(text[i])) {
      plain += text[i];
      continue;
    }
    if (text[i] != '^' || i + 2 >= text.size()) return std::nullopt;
    const int high = hex_digit(text[i + 1]);
    const int low = hex_digit(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return plain;
}

std::string in_string(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      (result += '\\') += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      result += c;
    }
  }
  return result + '"';
}

using Claim = std::pair<std::string, std::string>;
using Claims = std::vector<Claim>;

/// None where an element would be read as two, or not at all: as agents have it (runtime/policy/auth/jwt).
std::string list_text(std::span<const std::string_view> elements) {
  std::string text;
  for (const std::string_view element : elements) {
    if (element.empty() || element.find(',') != std::string_view::npos) return {};
    if (!text.empty()) text += ',';
    text += element;
  }
  return text;
}

/// Stands without quotes behind `claim:`.
bool is_plain(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) { return stays(c) || (c >= 'A' && c <= 'Z'); });
}

}  // namespace

std::string claim_field(std::string_view claim) {
  std::string name(kBegin);
  append_escaped(claim, name);
  return name;
}

std::string claim_item_field(std::string_view claim, std::string_view item) {
  std::string name = claim_field(claim);
  name += kHas;
  append_escaped(item, name);
  return name;
}

Claims claim_fields(std::span<const std::pair<std::string, std::string>> claims) {
  Claims fields;
  const auto add_item = [&fields](std::string_view claim, std::string_view item) {
    if (item.empty()) return;
    std::string name = claim_item_field(claim, item);
    if (std::ranges::find(fields, name, &Claim::first) == fields.end()) fields.emplace_back(std::move(name), "");
  };
  for (const auto& [claim, value] : claims) {
    std::string name = claim_field(claim);
    if (std::ranges::find(fields, name, &Claim::first) != fields.end()) continue;
    std::vector<std::string_view> values;
    for (const auto& [other, each] : claims) {
      if (other == claim) values.push_back(each);
    }
    fields.emplace_back(std::move(name), values.size() == 1 ? value : list_text(values));
    for (const std::string_view each : values) add_item(claim, each);
    if (values.size() > 1 || (claim != "scope" && claim != "scp")) continue;
    for (const auto word : value | std::views::split(' ')) add_item(claim, std::string_view(word.begin(), word.end()));
  }
  return fields;
}

Claims take_claims(Claims& fields) {
  Claims texts;
  Claims items;
  std::erase_if(fields, [&](const auto& field) {
    const auto claim = read_claim_field(field.first);
    if (!claim) return false;
    (claim->item ? items : texts).emplace_back(claim->claim, claim->item.value_or(field.second));
    return true;
  });
  for (auto& text : texts) {
    const Claims alone = claim_fields({&text, 1});
    const auto is_of_text = [&](const Claim& item) {
      return std::ranges::find(alone, claim_item_field(item.first, item.second), &Claim::first) != alone.end();
    };
    const auto is_other = [&](const Claim& item) { return item.first == text.first && !is_of_text(item); };
    if (std::ranges::any_of(items, is_other)) continue;
    std::erase_if(items, [&](const Claim& item) { return item.first == text.first; });
    items.push_back(std::move(text));
  }
  return items;
}

std::optional<ClaimField> read_claim_field(std::string_view name) {
  if (!name.starts_with(kBegin)) return std::nullopt;
  name.remove_prefix(kBegin.size());
  const std::size_t has = name.find(kHas);
  auto claim = unescaped(name.substr(0, has));
  if (!claim) return std::nullopt;
  ClaimField field{*std::move(claim), std::nullopt};
  if (has == std::string_view::npos) return field;
  field.item = unescaped(name.substr(has + kHas.size()));
  return field.item ? std::optional(std::move(field)) : std::nullopt;
}

std::string field_text(std::string_view name) {
  const auto field = read_claim_field(name);
  if (!field) return "header:" + std::string(name);
  std::string text = "claim:" + (is_plain(field->claim) ? field->claim : in_string(field->claim));
  if (field->item) text += " contains " + in_string(*field->item);
  return text;
}

}  // namespace edge::program
