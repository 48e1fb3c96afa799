// Where a request, or a connection, went, as far as it came. Records of the program that it pins.
#pragma once

#include "runtime/match/load.h"

namespace edge::runtime {

struct RouteTaken {
  const LoadedListener* listener = nullptr;
  const LoadedHost* host = nullptr;
  const program::ActionRecord* action = nullptr;
  /// Null: none was chosen.
  const program::BackendRecord* backend = nullptr;

  const program::RouteRecord* route() const { return host == nullptr ? nullptr : &host->routes[action->route]; }
};

}  // namespace edge::runtime
