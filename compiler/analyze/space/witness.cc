#include "compiler/analyze/space/witness.h"

#include "base/path.h"
#include "program/claim_field.h"

namespace edge::compiler::analyze {
namespace {

std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + '\'';
}

}  // namespace

std::string query_encoded(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '_' || c == '.' || c == '~';
    if (plain) {
      encoded += c;
    } else {
      ((encoded += '%') += kHex[byte >> 4]) += kHex[byte & 15];
    }
  }
  return encoded;
}

bool is_normal_path(const std::string& path) {
  std::string buffer(path.size() + 1, '\0');
  const auto result = normalise_path(path, buffer.data());
  return result && *result == path;
}

std::string witness_text(const Witness& witness) {
  std::string text = witness.method + " http://" + witness.host;
  if (witness.port != 80) text += ":" + std::to_string(witness.port);
  text += witness.path;
  if (!witness.query.empty()) text += "?" + witness.query;
  for (const auto& [name, value] : witness.headers) {
    const auto claim = program::read_claim_field(name);
    text += claim ? " --claim " + shell_quoted(claim->claim + "=" + claim->item.value_or(value))
                  : " -H " + shell_quoted(name + ": " + value);
  }
  if (witness.source != IpAddress{}) text += " from " + to_string(witness.source);
  return text;
}

WitnessView::WitnessView(const Witness& witness) {
  fields_.reserve(witness.headers.size());
  for (const auto& [name, value] : witness.headers) fields_.push_back({name, value});
  view_.method = witness.method;
  view_.host = witness.host;
  view_.path = witness.path;
  view_.query = witness.query;
  view_.headers = fields_;
  view_.source = witness.source;
}

}  // namespace edge::compiler::analyze
