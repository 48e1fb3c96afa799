// Metrics of federation, from what people are shown of it.
#pragma once

#include "controller/federation/view.h"
#include "metrics/exposition.h"

namespace edge::controller {

/// Writes the families, without samples where there is no federation or this controller does not lead.
void write_federation(metrics::Exposition& out, const federation::View& view);

}  // namespace edge::controller
