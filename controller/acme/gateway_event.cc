#include "controller/acme/gateway_event.h"

#include <utility>

namespace edge::controller::acme {

net::Task<bool> record_of_gateway(kube::Client& client, net::Waiter& waiter, kube::Recorder& recorder,
                                  std::string gateway, kube::EventLevel level, std::string reason,
                                  std::string message) {
  const kube::Resource gateways{
      .group = EDGE_API_GROUP, .version = "v1alpha1", .plural = "proxygateways", .kind = "ProxyGateway"};
  const std::size_t slash = gateway.find('/');
  const std::string name = slash == std::string::npos ? std::string() : gateway.substr(slash + 1);
  const kube::ObjectReply reply = co_await client.get(waiter, gateways, gateway.substr(0, slash), name);
  if (!reply.ok()) co_return false;
  recorder.record({.api_version = EDGE_API_GROUP "/v1alpha1",
                   .kind = gateways.kind,
                   .name_space = reply.object.name_space,
                   .name = reply.object.name,
                   .uid = reply.object.uid},
                  level, std::move(reason), std::move(message));
  co_return true;
}

}  // namespace edge::controller::acme
