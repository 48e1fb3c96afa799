// Installs the kinds of Gateway API in an embedded API that lacks them: definitions without a schema, so that objects
// are stored unchanged and validated by the compiler.
#pragma once

#include "base/result.h"
#include "controller/kube/config.h"

namespace edge::net {
class Loop;
}

namespace edge::standalone {

/// Kinds that are served already are left as they are: somebody may have installed the official definitions.
/// `loop`: as of BlockingClient.
Status install_gateway_api(kube::Config config, net::Loop* loop);

}  // namespace edge::standalone
