// Refuses requests that a page of another site, or another name for this address, makes a browser send.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/server/message.h"

namespace edge::edgectl::web {

/// Returns whether a Host field names this server: an address, `localhost` and names below it, or one of `names`.
/// Another name may have been made to resolve to this address by whoever owns it (DNS rebinding).
bool is_own_host(std::string_view host, const std::vector<std::string>& names);

/// Returns why a call is refused; nullopt: it is not. By Sec-Fetch-Site (Fetch Metadata) and Origin (RFC 6454), which
/// scripts cannot set. `public_origin`: of --public-url, in lower case, which browsers may name in place of the host's;
/// empty: none.
std::optional<std::string> foreign_call(const net::server::Request& request, std::string_view public_origin = {});

}  // namespace edge::edgectl::web
