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
constexpr std::array<bool, 256> kBeginsPart = [] {
  std::array<bool, 256> begins{};
  for (const std::string_view part : kParts) begins[static_cast<unsigned char>(part.front())] = true;
  return begins;
}();
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

/// Takes as much as goes in.
struct Room {
  std::span<char> left;

  void put(std::string_view text) {
    const std::size_t size = std::min(text.size(), left.size());
    std::copy_n(text.data(), size, left.data());
    left = left.subspan(size);
  }
};

void put_redacted_query(std::string_view query, Room& out) {
  query = query.substr(0, kMostRead);
  while (!query.empty()) {
    // Some servers part parameters at `;` too.
    const auto parts = [](char c) { return c == '&' || c == ';'; };
    const auto end = static_cast<std::size_t>(std::ranges::find_if(query, parts) - query.begin());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && equals + 1 < pair.size() && names_credential(pair.substr(0, equals))) {
      out.put(pair.substr(0, equals + 1));
      out.put(kRedacted);
    } else {
      out.put(pair);
    }
    out.put(query.substr(end, 1));
    query.remove_prefix(std::min(end + 1, query.size()));
  }
}

}  // namespace

bool names_credential(std::string_view name) {
  std::array<char, kMostName> room;
  const std::string_view plain(room.data(), plain_name(name, room));
  for (std::size_t i = 0; i < plain.size(); ++i) {
    // Few letters begin a part.
    if (!kBeginsPart[static_cast<unsigned char>(plain[i])]) continue;
    const std::string_view rest = plain.substr(i);
    const auto begins = [&](std::string_view part) { return part.front() == rest.front() && rest.starts_with(part); };
    if (std::ranges::any_of(kParts, begins)) return true;
  }
  const auto is = [&](std::string_view whole) { return whole.front() == plain.front() && whole == plain; };
  return !plain.empty() && std::ranges::any_of(kWhole, is);
}

std::size_t write_redacted_query(std::string_view query, std::span<char> into) {
  Room out{into};
  put_redacted_query(query, out);
  return into.size() - out.left.size();
}

std::size_t write_redacted_url(std::string_view url, std::span<char> into) {
  Room out{into};
  url = url.substr(0, std::min(url.find('#'), kMostRead));
  // Before any path or query alone: one in a query is a value.
  const std::size_t slashes = url.find("//");
  if (slashes != std::string_view::npos && url.find_first_of("/?") == slashes) {
    const std::size_t begin = slashes + 2;
    const std::size_t end = std::min(url.find_first_of("/?", begin), url.size());
    const std::size_t user = url.substr(0, end).rfind('@');
    out.put(url.substr(0, begin));
    url.remove_prefix(user == std::string_view::npos || user < begin ? begin : user + 1);
  }
  const std::size_t query = url.find('?');
  out.put(url.substr(0, query));
  if (query != std::string_view::npos) {
    out.put("?");
    put_redacted_query(url.substr(query + 1), out);
  }
  return into.size() - out.left.size();
}

}  // namespace edge::runtime
