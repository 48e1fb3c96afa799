// edge-controller --relay: no resources and no API, but what a hub sends for the agents of one site.
#pragma once

#include "cli/flags.h"

namespace edge::controller {

int run_relay(const cli::Arguments& arguments);

}  // namespace edge::controller
