// Events of the gateways whose names are ordered.
#pragma once

#include <string>

#include "controller/kube/client.h"
#include "controller/kube/recorder.h"

namespace edge::controller::acme {

/// Records an event of a ProxyGateway, `namespace/name`. \returns whether the gateway is there.
net::Task<bool> record_of_gateway(kube::Client& client, net::Waiter& waiter, kube::Recorder& recorder,
                                  std::string gateway, kube::EventLevel level, std::string reason, std::string message);

}  // namespace edge::controller::acme
