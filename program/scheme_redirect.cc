#include "program/scheme_redirect.h"

#include <algorithm>
#include <string>

namespace edge::program {
namespace {

std::string_view host_of(std::string_view authority) {
  const std::size_t colon = authority.rfind(':');
  const std::size_t bracket = authority.rfind(']');
  const bool has_port = colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  return has_port ? authority.substr(0, colon) : authority;
}

}  // namespace

std::optional<Redirect> scheme_redirect(const SectionView& listeners, const SchemeRedirectRecord& settings,
                                        const PlainRequest& request) {
  const auto covers = [&](StringRef text) {
    const std::string_view exclusion = listeners.string(text);
    return exclusion.ends_with('/') ? request.normal_path.starts_with(exclusion) : request.normal_path == exclusion;
  };
  if (std::ranges::any_of(listeners.array(settings.exclusions), covers)) return std::nullopt;
  const std::string_view scheme = listeners.string(settings.scheme);
  Redirect result;
  result.status = static_cast<int>(settings.status);
  result.location.append(scheme).append("://").append(host_of(request.authority));
  const bool usual = (scheme == "https" && settings.port == 443) || (scheme == "http" && settings.port == 80);
  if (!usual) result.location.append(":").append(std::to_string(settings.port));
  // `OPTIONS *` is about the server: its address has no path (RFC 9112 §3.2.4).
  if (request.path != "*") result.location.append(request.path);
  if (request.has_query) result.location.append("?").append(request.query);
  return result;
}

}  // namespace edge::program
