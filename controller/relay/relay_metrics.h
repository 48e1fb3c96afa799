// Figures of a relay as metrics.
#pragma once

#include "controller/relay/relay.h"
#include "metrics/exposition.h"

namespace edge::controller::relay {

void write_figures(metrics::Exposition& out, const RelayFigures& figures);

}  // namespace edge::controller::relay
