#include "net/http2/field_rules.h"

#include <array>

#include "base/text/ascii.h"
#include "net/http1/char_tables.h"
#include "net/http1/head.h"

namespace edge::net::http2 {
namespace {

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
      return name == "te" && !equals_ignoring_case(value, "trailers");
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

std::optional<std::uint64_t> length_of(std::string_view value) {
  constexpr std::size_t kMostDigits = 19;
  if (value.empty() || value.size() > kMostDigits) return std::nullopt;
  std::uint64_t length = 0;
  for (const char c : value) {
    if (c < '0' || c > '9') return std::nullopt;
    length = 10 * length + static_cast<std::uint64_t>(c - '0');
  }
  return length;
}

bool passes_as_trailer(std::string_view name) { return http1::recognise_field(name) == http1::KnownField::kOther; }

bool announces_trailers(std::string_view name, std::string_view value) {
  return name == "trailer" || (name == "content-type" && value.starts_with("application/grpc"));
}

}  // namespace edge::net::http2
