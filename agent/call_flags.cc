#include "agent/call_flags.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "agent/denied_calls.h"
#include "base/ip.h"
#include "base/os/file.h"
#include "net/tls/certificate.h"

namespace edge::agent {
namespace {

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), port);
  return fault == std::errc() && end == text.data() + text.size() && port != 0;
}

/// `10.0.0.1`, `10.0.0.1:53`, `fd00::1`, `[fd00::1]:53`.
bool is_name_server(std::string_view text) {
  if (parse_ip(text)) return true;
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || !is_port(text.substr(colon + 1))) return false;
  const std::string_view host = text.substr(0, colon);
  if (!host.starts_with('[')) return host.find(':') == std::string_view::npos && parse_ip(host);
  return host.ends_with(']') && parse_ip(host.substr(1, host.size() - 2));
}

}  // namespace

std::vector<cli::Flag> call_flags() {
  return {{.name = "call-authorities",
           .value = "PEM",
           .help = "Further certificate authorities that calls to authorization services and identity providers trust"},
          {.name = "deny-calls-to",
           .value = "BLOCKS",
           .help = "Destinations denied, after name resolution, to calls of policies (ForwardAuth, JWT, OIDC) and to "
                   "requests to backends by name: CIDR blocks separated by commas, `local` for loopback and "
                   "link-local, or `none`. Default: `local` with --controller, else `none`"},
          {.name = "name-servers",
           .value = "ADDRS",
           .help = "DNS servers for the names of backends and of policies' URLs, instead of those of /etc/resolv.conf: "
                   "addresses separated by commas, each with an optional port"}};
}

Result<std::string> read_name_servers(std::string_view text) {
  constexpr std::size_t kMost = 8;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view one = text.substr(begin, end - begin);
    if (!is_name_server(one) || ++count > kMost) {
      return Error{ErrorCode::kInvalidArgument,
                   "--name-servers takes at most 8 addresses such as 10.0.0.53 or 127.0.0.1:5353, not `" +
                       std::string(one) + "`"};
    }
    begin = end + 1;
  }
  return std::string(text);
}

Status read_call_flags(const cli::Arguments& arguments, runtime::ServerOptions& options) {
  if (arguments.has("call-authorities")) {
    auto pem = read_file(arguments.one("call-authorities"), net::tls::kMaxPemBytes);
    if (!pem) return pem.error();
    options.call_authorities = std::move(*pem);
  }
  if (arguments.has("deny-calls-to")) {
    auto denied = read_denied_calls(arguments.one("deny-calls-to"));
    if (!denied) return denied.error();
    options.denied_calls = std::move(*denied);
  }
  if (arguments.has("name-servers")) {
    auto servers = read_name_servers(arguments.one("name-servers"));
    if (!servers) return servers.error();
    options.names.queries.servers = std::move(*servers);
  }
  return {};
}

}  // namespace edge::agent
