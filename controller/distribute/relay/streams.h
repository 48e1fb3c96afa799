// The streams of schemas/relay.proto: the controller's side of relays, which give its programs and values to agents of
// other sites, and say how these are. A relay is no agent: it is counted as `berlin:`, and its agents are
// `berlin:edge-1`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "controller/authority/certificates.h"

namespace grpc {
class CallbackServerContext;
class Service;
template <class Request, class Response>
class ServerBidiReactor;
}  // namespace grpc

namespace edge::relay::v1 {
class ProgramsUp;
class ProgramsDown;
class ValuesUp;
class ValuesDown;
class AgentsUp;
class AgentsDown;
}  // namespace edge::relay::v1

namespace edge::controller {

class Hub;

/// Says which groups agents behind the relay of another cluster may be in. kUnavailable, kPermissionDenied: there is to
/// be no connection of the relay. On server threads, often: must not block.
using RelayedGroups = std::function<Result<std::vector<std::string>>(const std::string& cluster)>;

/// What a stream of a relay is made of.
struct RelayCall {
  Hub& hub;
  grpc::CallbackServerContext& context;
  CertificateFacts peer;
  const RelayedGroups& groups;
  std::vector<std::string> granted;  ///< when it began; another list ends the stream
};

/// Returns whether a stream that began with `granted` may go on; kAborted where the groups are others.
Status may_relay(const RelayedGroups& groups, const std::string& cluster, const std::vector<std::string>& granted);

using RelayProgramReactor = grpc::ServerBidiReactor<edge::relay::v1::ProgramsUp, edge::relay::v1::ProgramsDown>;
using RelayValueReactor = grpc::ServerBidiReactor<edge::relay::v1::ValuesUp, edge::relay::v1::ValuesDown>;
using RelayAgentReactor = grpc::ServerBidiReactor<edge::relay::v1::AgentsUp, edge::relay::v1::AgentsDown>;

RelayProgramReactor* new_relay_programs(RelayCall call);
RelayValueReactor* new_relay_values(RelayCall call);
RelayAgentReactor* new_relay_agents(RelayCall call);

/// For DistributorOptions::further. `hub` must outlive it.
std::shared_ptr<grpc::Service> make_relay_service(Hub& hub, RelayedGroups groups);

}  // namespace edge::controller
