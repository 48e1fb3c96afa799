#include "net/http2/field_rules.h"

#include <array>

#include "net/http1/char_tables.h"
#include "net/http1/head.h"

namespace edge::net::http2 {
namespace {

using http1::CharClass;
using http1::is_class;

// Bytes of a lower-case token.
constexpr std::array<bool, 256> kNameBytes = [] {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < 256; ++c) {
    table[c] = (http1::kCharClasses[c] & http1::kTokenChar) != 0 && (c < 'A' || c > 'Z');
  }
  return table;
}();

}  // namespace

bool valid_name(std::string_view name) {
  // All bytes are looked at, without a branch for each: names are short and nearly always good.
  bool good = !name.empty();
  for (const char c : name) good &= kNameBytes[static_cast<unsigned char>(c)];
  return good;
}

bool valid_value(std::string_view value) {
  bool good = true;
  for (const char c : value) good &= !http1::is_control(c);
  return good;
}

bool connection_specific(std::string_view name, std::string_view value) {
  switch (name.size()) {
    case 2:
      return name == "te" && !http1::equals_ignoring_case(value, "trailers");
    case 7:
      return name == "upgrade";
    case 10:
      return name == "connection" || name == "keep-alive";
    case 14:
      return name == "http2-settings";
    case 16:
      return name == "proxy-connection";
    case 17:
      return name == "transfer-encoding";
    default:
      return false;
  }
}

bool valid_target(std::string_view path) {
  bool good = !path.empty();
  for (const char c : path) good &= c > 0x20 && c < 0x7f;
  return good;
}

bool valid_authority(std::string_view authority) {
  return !authority.empty() && http1::all_of_class(authority, http1::kHostChar);
}

bool is_length(std::string_view value) {
  bool good = !value.empty() && value.size() < 20;
  for (const char c : value) good &= c >= '0' && c <= '9';
  return good;
}

bool passes_as_trailer(std::string_view name) { return http1::recognise_field(name) == http1::KnownField::kOther; }

bool announces_trailers(std::string_view name, std::string_view value) {
  return name == "trailer" || (name == "content-type" && value.starts_with("application/grpc"));
}

}  // namespace edge::net::http2
