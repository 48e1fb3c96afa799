#include "edgectl/web/server/guard.h"

#include <algorithm>

#include "base/ip.h"
#include "base/text/ascii.h"

namespace edge::edgectl::web {
namespace {

/// Returns a Host field without its port, in lower case, an IPv6 address without brackets.
std::string name_of(std::string_view host) {
  if (host.starts_with('[')) return std::string(host.substr(1, std::max<std::size_t>(host.find(']'), 1) - 1));
  return ascii_lower(host.substr(0, host.find(':')));
}

}  // namespace

bool is_own_host(std::string_view host, const std::vector<std::string>& names) {
  const std::string name = name_of(host);
  if (name == "localhost" || name.ends_with(".localhost") || parse_ip(name)) return true;
  return std::ranges::find(names, name) != names.end();
}

std::optional<std::string> foreign_call(const net::server::Request& request, std::string_view public_origin) {
  const std::string_view site = request.field("sec-fetch-site");
  if (!site.empty() && site != "same-origin" && site != "none") return "called by a page of another site";
  const std::string_view origin = request.field("origin");
  if (origin.empty()) return std::nullopt;
  const std::string own = (request.peer->tls ? "https://" : "http://") + request.host;
  const std::string named = ascii_lower(origin);
  if (named != ascii_lower(own) && (public_origin.empty() || named != public_origin))
    return "called by a page of another origin";
  return std::nullopt;
}

}  // namespace edge::edgectl::web
