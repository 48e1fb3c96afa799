#include "runtime/observe/redact.h"

#include <algorithm>
#include <array>

namespace edge::runtime {
namespace {

constexpr std::size_t kMostRead = 8192;
constexpr std::string_view kRedacted = "***";
/// A longer name is none that a program looks for; it is cut.
constexpr std::size_t kMostName = 64;

/// Anywhere in a name, which stands in lower case and without `-`, `_` and `.`.
constexpr std::array<std::string_view, 16> kParts = {
    "token",     "secret", "passw", "pwd",  "credential", "apikey",     "signature", "session",
    "assertion", "saml",   "jwt",   "auth", "accesskey",  "privatekey", "otp",       "nonce"};
/// The whole name.
constexpr std::array<std::string_view, 12> kWhole = {"code", "state", "key",    "sig",          "sid",    "pass",
                                                     "pin",  "hmac",  "ticket", "codeverifier", "cookie", "sign"};

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// Decoded, in lower case, letters and digits alone: `Access%2DToken` is `accesstoken`.
std::size_t plain_name(std::string_view name, std::array<char, kMostName>& into) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < name.size() && size < into.size(); ++i) {
    char c = name[i];
    if (c == '%' && i + 2 < name.size() && hex_value(name[i + 1]) >= 0 && hex_value(name[i + 2]) >= 0) {
      c = static_cast<char>(hex_value(name[i + 1]) * 16 + hex_value(name[i + 2]));
      i += 2;
    }
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) into[size++] = c;
  }
  return size;
}

}  // namespace

bool names_credential(std::string_view name) {
  std::array<char, kMostName> room;
  const std::string_view plain(room.data(), plain_name(name, room));
  return std::ranges::any_of(kParts,
                             [&](std::string_view part) { return plain.find(part) != std::string_view::npos; }) ||
         std::ranges::find(kWhole, plain) != kWhole.end();
}

void append_redacted_query(std::string_view query, std::string& out) {
  query = query.substr(0, kMostRead);
  while (!query.empty()) {
    // Some servers part parameters at `;` too.
    const std::size_t end = std::min(query.find_first_of("&;"), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && equals + 1 < pair.size() && names_credential(pair.substr(0, equals))) {
      out.append(pair.substr(0, equals + 1)).append(kRedacted);
    } else {
      out.append(pair);
    }
    if (end < query.size()) out.push_back(query[end]);
    query.remove_prefix(std::min(end + 1, query.size()));
  }
}

void append_redacted_url(std::string_view url, std::string& out) {
  url = url.substr(0, std::min(url.find('#'), kMostRead));
  const std::size_t authority = url.find("://");
  if (authority != std::string_view::npos) {
    const std::size_t begin = authority + 3;
    const std::size_t end = std::min(url.find_first_of("/?", begin), url.size());
    const std::size_t user = url.substr(0, end).rfind('@');
    out.append(url.substr(0, begin));
    url.remove_prefix(user == std::string_view::npos || user < begin ? begin : user + 1);
  }
  const std::size_t query = url.find('?');
  out.append(url.substr(0, query));
  if (query == std::string_view::npos) return;
  out.push_back('?');
  append_redacted_query(url.substr(query + 1), out);
}

}  // namespace edge::runtime
