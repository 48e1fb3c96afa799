#include "compiler/model/formats.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>

#include "base/hostname.h"
#include "base/ip.h"
#include "base/labels.h"
#include "base/text/ascii.h"
#include "base/units.h"
#include "program/evaluate/pattern.h"
#include "program/values/endpoints.h"
#include "schemas/formats.h"

namespace edge::compiler::model {
namespace {

using schemas::Format;

bool digit(char c) { return c >= '0' && c <= '9'; }
bool small(char c) { return (c >= 'a' && c <= 'z') || digit(c); }

/// RFC 1123 label.
bool is_label(std::string_view text) {
  if (text.empty() || text.size() > 63 || !small(text.front()) || !small(text.back())) return false;
  for (const char c : text) {
    if (!small(c) && c != '-') return false;
  }
  return true;
}

/// RFC 1123 subdomain.
bool is_name(std::string_view text) {
  if (text.size() > 253) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    if (!is_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_namespaced_name(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return is_name(text);
  return is_label(text.substr(0, slash)) && is_name(text.substr(slash + 1));
}

bool is_header_value(std::string_view text) {
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f) return false;
  }
  return text.empty() || (text.front() != ' ' && text.back() != ' ' && text.front() != '\t' && text.back() != '\t');
}

bool is_url(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!text.starts_with(scheme)) continue;
    const std::string_view rest = text.substr(scheme.size());
    char buffer[256];
    if (!canonical_host(rest.substr(0, rest.find_first_of("/?#")), buffer)) return false;
    for (const char c : rest) {
      if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f) return false;
    }
    return true;
  }
  return false;
}

bool is_rate_limit_key(std::string_view text) {
  if (text == "source-ip" || text == "host" || text == "path" || text == "identity") return true;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return false;
  const std::string_view kind = text.substr(0, colon);
  if (kind == "header" || kind == "cookie") return is_token(text.substr(colon + 1));
  return kind == "query" || kind == "jwt";
}

/// A number from 0 to 100 with at most three decimals, and `%`.
bool is_percent(std::string_view text) {
  if (!text.ends_with('%')) return false;
  text.remove_suffix(1);
  const std::size_t dot = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, dot);
  const std::string_view rest = dot < text.size() ? text.substr(dot + 1) : "0";
  if (whole.empty() || whole.size() > 3 || rest.empty() || rest.size() > 3) return false;
  const auto is_number = [](std::string_view part) { return std::all_of(part.begin(), part.end(), digit); };
  if (!is_number(whole) || !is_number(rest)) return false;
  if (whole.size() < 3) return true;
  return whole == "100" && rest.find_first_not_of('0') == std::string_view::npos;
}

/// `host:port`, or `[IPv6]:port`.
bool is_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view port = text.substr(colon + 1);
  std::uint16_t number = 0;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (error != std::errc() || end != port.data() + port.size() || number == 0) return false;
  const std::string_view host = text.substr(0, colon);
  if (host.starts_with('[')) return host.ends_with(']') && parse_ip(host.substr(1, host.size() - 2)).has_value();
  const auto pattern = HostPattern::parse(host);
  return host.find(':') == std::string_view::npos && pattern && !pattern->wildcard();
}

/// `host:port`, `[IPv6]:port`, or `_service._protocol.name`.
bool is_endpoint_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  const std::string_view host = text.substr(0, colon);
  const bool service = colon == std::string_view::npos;
  if (!service) {
    std::uint16_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number == 0) return false;
    if (host.starts_with('[')) {
      const auto address = host.ends_with(']') ? parse_ip(host.substr(1, host.size() - 2)) : std::nullopt;
      return address && host.find(':') != std::string_view::npos;
    }
    if (parse_ip(host)) return host.find(':') == std::string_view::npos;
  }
  if (!program::is_endpoint_name(ascii_lower(host))) return false;
  if (service) {
    const std::size_t dot = host.find("._");
    return host.starts_with('_') && dot != std::string_view::npos && host.find('.', dot + 2) != std::string_view::npos;
  }
  // What ends in a number would be an address (RFC 3986 §3.2.2), and is none.
  const std::size_t dot = host.rfind('.', host.size() - 2);
  const std::string_view last = host.substr(dot == std::string_view::npos ? 0 : dot + 1);
  return last.find_first_not_of("0123456789.") != std::string_view::npos;
}

/// An absolute path without `.` and `..`.
bool is_file_path(std::string_view text) {
  if (text.size() > schemas::format_length(Format::kFilePath) || !text.starts_with('/')) return false;
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view part = text.substr(0, text.find('/'));
    if (part.empty() || part == "." || part == "..") return false;
    const bool plain = std::ranges::none_of(
        part, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == ':'; });
    if (!plain) return false;
    text.remove_prefix(part.size());
  }
  return true;
}

/// Two numbers of 16 bits, three of 32, or a name of RFC 1997, RFC 3765 or RFC 8326.
bool is_bgp_community(std::string_view text) {
  for (const std::string_view name : {"no-export", "no-advertise", "no-peer", "graceful-shutdown"}) {
    if (text == name) return true;
  }
  std::array<std::uint64_t, 3> numbers{};
  std::size_t count = 0;
  for (;;) {
    const std::string_view part = text.substr(0, text.find(':'));
    if (count == numbers.size() || part.empty() || part.size() > 10 || !std::ranges::all_of(part, digit)) return false;
    for (const char c : part) numbers[count] = numbers[count] * 10 + static_cast<std::uint64_t>(c - '0');
    ++count;
    if (part.size() == text.size()) break;
    text.remove_prefix(part.size() + 1);
  }
  if (count < 2) return false;
  const std::uint64_t most = count == 2 ? 0xffff : 0xffff'ffff;
  return std::all_of(numbers.begin(), numbers.begin() + count, [&](std::uint64_t number) { return number <= most; });
}

bool is_bgp_password(std::string_view text) {
  return !text.empty() && text.size() <= 80 &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '"'; });
}

bool is_country(std::string_view text) {
  return text.size() == 2 && std::ranges::all_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool is_error_status(std::string_view text) {
  if (text.size() != 3 || (text[0] != '4' && text[0] != '5')) return false;
  return text.substr(1) == "xx" || (digit(text[1]) && digit(text[2]));
}

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool visible(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

/// RFC 3986 §3, no more of its grammar than the scheme: what is compared is compared byte for byte.
bool is_uri(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon + 1 == text.size()) return false;
  const std::string_view scheme = text.substr(0, colon);
  return text.size() <= schemas::format_length(Format::kUri) && !scheme.empty() && letter(scheme[0]) &&
         std::ranges::all_of(scheme,
                             [](char c) { return letter(c) || digit(c) || c == '+' || c == '.' || c == '-'; }) &&
         visible(text);
}

/// With a name behind the scheme: `spiffe://` alone would be the beginning of everybody's.
bool is_uri_prefix(std::string_view text) {
  return is_uri(text) && (text.ends_with('/') || text.ends_with(':')) &&
         text.substr(text.find(':')).find_first_not_of(":/") != std::string_view::npos;
}

bool is_email(std::string_view text) {
  const std::size_t at = text.find('@');
  return at != std::string_view::npos && at != 0 && at + 1 != text.size() &&
         text.find('@', at + 1) == std::string_view::npos && visible(text) &&
         text.size() <= schemas::format_length(Format::kEmail);
}

/// The least memory that a search may take is that of agents (runtime/policy/request_filter.h).
bool is_pattern(std::string_view text) {
  return !text.empty() && text.size() <= schemas::format_length(Format::kPattern) &&
         std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c != 0x7f; }) &&
         program::Pattern(text, program::kFilterPatternBytes).ok();
}

bool is_media_range(std::string_view text) {
  const std::size_t slash = text.find('/');
  return slash != std::string_view::npos && text.size() <= schemas::format_length(Format::kMediaRange) &&
         is_token(text.substr(0, slash)) && is_token(text.substr(slash + 1));
}

bool is_sha256(std::string_view text) {
  const bool pairs = text.size() == 95;
  if (!pairs && text.size() != 64) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool hex = digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (pairs && i % 3 == 2 ? c != ':' : !hex) return false;
  }
  return true;
}

/// 32 bytes in base64: 43 digits, of which the last has two bits to spare, and one `=`.
bool is_wireguard_key(std::string_view text) {
  if (text.size() != 44 || text.back() != '=') return false;
  for (const char c : text.substr(0, 43)) {
    if (!letter(c) && !digit(c) && c != '+' && c != '/') return false;
  }
  return std::string_view("AEIMQUYcgkosw048").find(text[42]) != std::string_view::npos;
}

}  // namespace

bool is_token(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (!letter(c) && !digit(c) && std::string_view("!#$%&'*+-.^_`|~").find(c) == std::string_view::npos) return false;
  }
  return true;
}

namespace {

struct FormatCheck {
  Format format;
  bool (*has)(std::string_view text);
};

constexpr FormatCheck kFormats[] = {
    {Format::kNone, [](std::string_view) { return true; }},
    {Format::kName, is_name},
    {Format::kNamespace, is_label},
    {Format::kNamespacedName, is_namespaced_name},
    {Format::kLabel, is_label},
    {Format::kLabelValue, [](std::string_view text) { return !text.empty() && is_label_value(text); }},
    {Format::kHostname, [](std::string_view text) { return HostPattern::parse(text).has_value(); }},
    {Format::kCidr, [](std::string_view text) { return parse_cidr(text).has_value(); }},
    {Format::kIp, [](std::string_view text) { return parse_ip(text).has_value(); }},
    {Format::kDuration, [](std::string_view text) { return parse_duration(text).has_value(); }},
    {Format::kSize, [](std::string_view text) { return parse_size(text).has_value(); }},
    {Format::kTimestamp, [](std::string_view text) { return parse_timestamp(text).has_value(); }},
    {Format::kUrl, is_url},
    {Format::kPath, [](std::string_view text) { return text.starts_with('/'); }},
    {Format::kHeaderName, is_token},
    {Format::kHeaderValue, is_header_value},
    {Format::kMethod, is_token},
    {Format::kRateLimitKey, is_rate_limit_key},
    {Format::kPercent, is_percent},
    {Format::kCountOrPercent,
     [](std::string_view text) { return is_percent(text) && text.find('.') == std::string_view::npos; }},
    {Format::kHostPort, is_host_port},
    {Format::kEndpointAddress, is_endpoint_address},
    {Format::kWireGuardKey, is_wireguard_key},
    {Format::kFilePath, is_file_path},
    {Format::kBgpCommunity, is_bgp_community},
    {Format::kCountry, is_country},
    {Format::kBgpPassword, is_bgp_password},
    {Format::kErrorStatus, is_error_status},
    {Format::kPage, [](std::string_view text) { return text.size() <= schemas::format_length(Format::kPage); }},
    {Format::kUri, is_uri},
    {Format::kUriPrefix, is_uri_prefix},
    {Format::kEmail, is_email},
    {Format::kPattern, is_pattern},
    {Format::kMediaRange, is_media_range},
    {Format::kSha256, is_sha256},
};

constexpr bool is_check_of_each() {
  for (std::size_t i = 0; i < std::size(kFormats); ++i) {
    if (static_cast<std::size_t>(kFormats[i].format) != i) return false;
  }
  return std::size(kFormats) == static_cast<std::size_t>(Format::kSha256) + 1;
}
static_assert(is_check_of_each());

}  // namespace

bool has_format(std::string_view text, Format format) {
  const auto index = static_cast<std::size_t>(format);
  return index < std::size(kFormats) && kFormats[index].has(text);
}

PlainType plain_type(std::string_view text) {
  for (const std::string_view word : {"true", "True", "TRUE", "false", "False", "FALSE"}) {
    if (text == word) return PlainType::kBoolean;
  }
  std::size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const std::string_view number = text.substr(at);
  for (const std::string_view word : {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"}) {
    if (number == word) return PlainType::kFloat;
  }
  const bool prefixed = number.starts_with("0x") || number.starts_with("0o");
  if (prefixed && number.size() > 2 &&
      number.find_first_not_of(number[1] == 'x' ? "0123456789abcdefABCDEF" : "01234567", 2) == std::string_view::npos) {
    return PlainType::kInteger;
  }
  std::size_t digits = 0;
  bool fraction = false;
  for (; at < text.size() && (digit(text[at]) || (text[at] == '.' && !fraction)); ++at) {
    if (text[at] == '.') {
      fraction = true;
    } else {
      ++digits;
    }
  }
  if (digits == 0) return PlainType::kString;
  if (at == text.size()) return fraction ? PlainType::kFloat : PlainType::kInteger;
  if (text[at] != 'e' && text[at] != 'E') return PlainType::kString;
  ++at;
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  if (at == text.size() || text.find_first_not_of("0123456789", at) != std::string_view::npos) {
    return PlainType::kString;
  }
  return PlainType::kFloat;
}

}  // namespace edge::compiler::model
