// Installs the kinds of Gateway API in an embedded API that lacks them: definitions without a schema, so that objects
// are stored unchanged and validated by the compiler.
#pragma once

#include "base/result.h"
#include "controller/kube/config.h"

namespace edge::standalone {

/// Kinds that are served already are left alone: the official definitions may be installed.
Status install_gateway_api(kube::Config config);

}  // namespace edge::standalone
