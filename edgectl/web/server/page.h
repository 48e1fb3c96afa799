// Serves the embedded files, and the header fields that confine the page.
#pragma once

#include <string_view>

#include "net/server/message.h"

namespace edge::edgectl::web {

/// Returns the file of a path. Other paths are places within the page and get `/index.html`; below `/assets/` they are
/// answered 404.
net::server::Reply page_reply(const net::server::Request& request);

/// Adds the fields that every reply has: the page loads and calls nothing but this server, runs no inline code, and is
/// framed by nobody.
void add_confinement(net::server::Reply& reply);

}  // namespace edge::edgectl::web
