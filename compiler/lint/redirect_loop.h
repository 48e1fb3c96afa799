// Redirects that lead back to the rule that makes them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "compiler/model/route.h"

namespace edge::compiler::lint {

struct RedirectLoop {
  Span span;         ///< the redirect
  Span match;        ///< the match that takes the new path
  std::string path;  ///< one path that comes back
};

/// A path of rule `index` that its redirect sends to the same rule, by the same host, scheme and port. Only what is
/// certain: other rules of the route that are more specific take the new path out of the loop, as do conditions that
/// the second request need not meet.
std::optional<RedirectLoop> find_redirect_loop(const model::ProxyRoute& route, std::size_t index);

}  // namespace edge::compiler::lint
