// The kinds of Gateway API for an embedded API that does not have them: definitions without a schema, so that what is
// written is kept as it is and judged by the compiler.
#pragma once

#include "base/result.h"
#include "controller/kube/config.h"

namespace edge::standalone {

/// Kinds that are served already are left as they are: somebody may have installed the official definitions.
Status install_gateway_api(kube::Config config);

}  // namespace edge::standalone
