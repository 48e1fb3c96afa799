#include "base/hostname.h"

#include <arpa/inet.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "base/ip.h"
#include "base/text/ascii.h"

namespace edge {
namespace {

constexpr std::size_t kLongestName = 253;
constexpr std::size_t kLongestLabel = 63;

enum ByteClass : std::uint8_t { kRefused = 0, kKeep = 1, kUpper = 2, kDot = 3, kColon = 4 };

// The bytes of a registered name (RFC 3986 §3.2.2): unreserved and sub-delims. Escapes are refused: they would be a
// second spelling of a name, which the backend might read as the first.
constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = kKeep;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kKeep;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] = kUpper;
  for (const char c : {'-', '_', '~', '!', '$', '&', '\'', '(', ')', '*', '+', ',', ';', '='}) {
    classes[static_cast<std::uint8_t>(c)] = kKeep;
  }
  classes['.'] = kDot;
  classes[':'] = kColon;
  return classes;
}
constexpr auto kClasses = make_classes();

bool label_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

/// A name of RFC 1123 §2.1 in lower case.
bool valid_name(std::string_view name) {
  if (name.empty() || name.size() > kLongestName) return false;
  std::size_t label = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && name[i] != '.') {
      if (!label_byte(name[i])) return false;
      continue;
    }
    if (i == label || i - label > kLongestLabel || name[label] == '-' || name[i - 1] == '-') return false;
    label = i + 1;
  }
  return true;
}

/// The part after the host: empty, or a colon and digits up to 65535. RFC 3986 §3.2.3 allows no digits at all.
bool valid_port(std::string_view text) {
  if (text.empty()) return true;
  if (text[0] != ':' || text.size() > 6) return false;
  unsigned port = 0;
  for (const char c : text.substr(1)) {
    if (c < '0' || c > '9') return false;
    port = port * 10 + static_cast<unsigned>(c - '0');
  }
  return port <= 65535;
}

/// `[address]` with the address in RFC 5952 form, so that two spellings of it are one name.
std::optional<std::string_view> canonical_ipv6(std::string_view inside, char (&buffer)[256]) {
  if (inside.find(':') == std::string_view::npos) return std::nullopt;
  const auto address = parse_ip(inside);
  if (!address) return std::nullopt;
  buffer[0] = '[';
  if (inet_ntop(AF_INET6, address->bytes.data(), buffer + 1, INET6_ADDRSTRLEN) == nullptr) return std::nullopt;
  const std::size_t size = std::strlen(buffer);
  buffer[size] = ']';
  return std::string_view(buffer, size + 1);
}

}  // namespace

std::optional<HostPattern> HostPattern::parse(std::string_view text) {
  HostPattern pattern;
  if (text.find(':') != std::string_view::npos) {
    if (text.size() > 2 && text.front() == '[' && text.back() == ']') text = text.substr(1, text.size() - 2);
    char buffer[256];
    const auto literal = canonical_ipv6(text, buffer);
    if (!literal) return std::nullopt;
    pattern.text_ = *literal;
    return pattern;
  }
  if (text.ends_with('.')) text.remove_suffix(1);
  if (text.size() > kLongestName) return std::nullopt;
  pattern.text_.reserve(text.size());
  for (const char c : text) pattern.text_.push_back(ascii_lower(c));
  if (!valid_name(pattern.domain())) return std::nullopt;
  if (pattern.wildcard() && parse_ip(pattern.domain())) return std::nullopt;
  return pattern;
}

bool HostPattern::matches(std::string_view host) const {
  if (any()) return true;
  if (!wildcard()) return host == text_;
  // text_ from its dot on: the boundary of the label is part of the comparison.
  const std::string_view suffix = std::string_view(text_).substr(1);
  return host.size() > suffix.size() && host.ends_with(suffix);
}

std::optional<HostPattern> HostPattern::intersect(const HostPattern& a, const HostPattern& b) {
  if (a.any()) return b;
  if (b.any() || a == b) return a;
  if (a.wildcard() && b.wildcard()) {
    if (a.domain().ends_with(std::string_view(b.text_).substr(1))) return a;
    if (b.domain().ends_with(std::string_view(a.text_).substr(1))) return b;
    return std::nullopt;
  }
  if (a.wildcard() && a.matches(b.text_)) return b;
  if (b.wildcard() && b.matches(a.text_)) return a;
  return std::nullopt;
}

bool HostPattern::more_specific(const HostPattern& a, const HostPattern& b) {
  const auto rank = [](const HostPattern& p) { return p.any() ? 2 : p.wildcard() ? 1 : 0; };
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (a.wildcard() && a.text_.size() != b.text_.size()) return a.text_.size() > b.text_.size();
  return a.text_ < b.text_;
}

std::optional<std::string_view> canonical_host(std::string_view host, char (&buffer)[256]) {
  if (host.empty()) return std::nullopt;
  if (host[0] == '[') {
    const std::size_t close = host.find(']');
    if (close == std::string_view::npos || !valid_port(host.substr(close + 1))) return std::nullopt;
    return canonical_ipv6(host.substr(1, close - 1), buffer);
  }
  bool has_upper = false;
  bool after_dot = true;  // an empty label is no name, nor is a leading dot
  std::size_t end = 0;
  for (; end < host.size(); ++end) {
    const std::uint8_t kind = kClasses[static_cast<std::uint8_t>(host[end])];
    if (kind == kKeep) {
      after_dot = false;
    } else if (kind == kUpper) {
      after_dot = false;
      has_upper = true;
    } else if (kind == kDot) {
      if (after_dot) return std::nullopt;
      after_dot = true;
    } else if (kind == kColon) {
      if (!valid_port(host.substr(end))) return std::nullopt;
      break;
    } else {
      return std::nullopt;
    }
  }
  if (end > 0 && host[end - 1] == '.') --end;
  if (end == 0 || end > 255) return std::nullopt;
  const std::string_view name = host.substr(0, end);
  if (!has_upper) return name;
  for (std::size_t i = 0; i < end; ++i) buffer[i] = ascii_lower(name[i]);
  return std::string_view(buffer, end);
}

}  // namespace edge
