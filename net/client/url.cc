#include "net/client/url.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/hostname.h"
#include "base/ip.h"
#include "base/text/ascii.h"

namespace edge::net::client {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

Error fault(const char* text) { return {ErrorCode::kInvalidArgument, text}; }

bool take_scheme(std::string_view& text, std::string_view scheme) {
  if (!starts_with_ignoring_case(text, scheme)) return false;
  text.remove_prefix(scheme.size());
  return true;
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f && c != '\\' && c != '"'; });
}

/// What stands behind the host; nullopt when it is no port. `scheme_port` where there is none.
std::optional<std::uint16_t> port_of(std::string_view authority, std::uint16_t scheme_port) {
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon == std::string_view::npos) return scheme_port;
  const std::string_view digits = authority.substr(colon + 1);
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size() || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::string Url::authority() const {
  const bool v6 = host.find(':') != std::string::npos;
  std::string text = v6 ? "[" + host + "]" : host;
  if (port != (secure ? kHttpsPort : kHttpPort)) text.append(":").append(std::to_string(port));
  return text;
}

std::string Url::origin() const { return (secure ? "https://" : "http://") + authority(); }

Result<Url> parse_url(std::string_view text) {
  if (text.size() > kMaxUrlBytes) return fault("the URL is too long");
  if (!is_plain(text)) return fault("the URL has a character that a URL does not have");
  Url url;
  if (take_scheme(text, "https://")) {
    url.secure = true;
  } else if (!take_scheme(text, "http://")) {
    return fault("the URL is not one of http or https");
  }
  if (text.find('#') != std::string_view::npos) return fault("the URL has a fragment");
  const std::size_t end = std::min(text.find_first_of("/?"), text.size());
  const std::string_view authority = text.substr(0, end);
  if (authority.find('@') != std::string_view::npos) return fault("the URL names a user");
  const std::optional<std::uint16_t> port = port_of(authority, url.secure ? kHttpsPort : kHttpPort);
  if (!port) return fault("the URL's port is none");
  url.port = *port;
  char buffer[256];
  const std::optional<std::string_view> host = canonical_host(authority, buffer);
  if (!host || host->empty()) return fault("the URL's host is malformed");
  url.host = host->starts_with('[') ? host->substr(1, host->size() - 2) : *host;
  if (host->starts_with('[') && !parse_ip(url.host)) return fault("the URL's host is malformed");
  url.target = text.substr(end);
  if (!url.target.starts_with('/')) url.target.insert(0, "/");
  return url;
}

}  // namespace edge::net::client
