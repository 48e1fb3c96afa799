// The flags of a cluster that has a hub, which edge-controller and edge-standalone share.
#pragma once

#include <vector>

#include "cli/flags.h"

namespace edge::controller {

std::vector<cli::Flag> hub_flags();

/// Into the members `hub` and `hub_join` of `options`.
template <typename Options>
void read_hub_flags(const cli::Arguments& arguments, Options& options) {
  if (arguments.has("hub")) options.hub = arguments.one("hub");
  if (arguments.has("hub-join")) options.hub_join = arguments.one("hub-join");
}

}  // namespace edge::controller
