// Redirects that lead back to the rule that makes them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "compiler/model/route.h"

namespace edge::compiler::lint {

struct RedirectLoop {
  Span span;         ///< the redirect
  Span match;        ///< the match of the new path
  std::string path;  ///< an example of such a path
};

/// Finds a path of rule `index` that its redirect sends to the same rule, with the same host, scheme and port. Reports
/// only certain loops: more specific rules of the route may take the new path, and so may conditions that the second
/// request need not meet.
std::optional<RedirectLoop> find_redirect_loop(const model::ProxyRoute& route, std::size_t index);

}  // namespace edge::compiler::lint
