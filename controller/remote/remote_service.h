// The hub's side of schemas/remote.proto: streams of other clusters, authenticated by their certificates.
#pragma once

#include <memory>

#include "controller/remote/remote_clusters.h"
#include "controller/remote/spoke_questions.h"
#include "controller/remote/tunnel.h"

namespace grpc {
class Service;
}  // namespace grpc

namespace edge::controller::remote {

/// All must outlive the server that the service is registered with.
std::shared_ptr<grpc::Service> make_remote_service(RemoteClusters& clusters, Tunnels& tunnels,
                                                   SpokeQuestions& questions, Authority& authority);

}  // namespace edge::controller::remote
