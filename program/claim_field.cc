#include "program/claim_field.h"

#include <algorithm>

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

std::vector<std::pair<std::string, std::string>> claim_fields(
    std::span<const std::pair<std::string, std::string>> claims) {
  std::vector<std::pair<std::string, std::string>> fields;
  for (const auto& [claim, value] : claims) {
    const std::string name = claim_field(claim);
    const auto text = std::ranges::find(fields, name, [](const auto& field) { return field.first; });
    if (text == fields.end()) {
      fields.emplace_back(name, value);
    } else {
      text->second += "," + value;
    }
    std::string item = claim_item_field(claim, value);
    const auto twice = std::ranges::find(fields, item, [](const auto& field) { return field.first; });
    if (twice == fields.end()) fields.emplace_back(std::move(item), std::string());
  }
  return fields;
}

std::vector<std::pair<std::string, std::string>> take_claims(std::vector<std::pair<std::string, std::string>>& fields) {
  std::vector<std::pair<std::string, std::string>> texts;
  std::vector<std::pair<std::string, std::string>> claims;
  std::erase_if(fields, [&](const auto& field) {
    const auto claim = read_claim_field(field.first);
    if (!claim) return false;
    (claim->item ? claims : texts).emplace_back(claim->claim, claim->item.value_or(field.second));
    return true;
  });
  for (auto& [claim, text] : texts) {
    const auto has = std::ranges::find(claims, claim, [](const auto& one) { return one.first; });
    if (has == claims.end()) claims.emplace_back(std::move(claim), std::move(text));
  }
  return claims;
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
