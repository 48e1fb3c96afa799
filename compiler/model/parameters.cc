#include "compiler/model/parameters.h"

#include <tuple>

#include "base/resource_id.h"
#include "schemas/schema.h"

namespace edge::compiler::model {
namespace {

constexpr std::string_view kSettings = "ProxyGateway";

}  // namespace

Parameters find_parameters(const ObjectRef& ref, std::string_view name_space,
                           const std::vector<ProxyGateway>& gateways) {
  if (ref.group != schemas::kApiGroup || ref.kind != kSettings) {
    return {.fault = "parameters are a ProxyGateway of the group `" + std::string(schemas::kApiGroup) + "`, not a " +
                     ref.kind + " of the group `" + ref.group + "`"};
  }
  const std::string_view space = ref.to.name_space.empty() ? name_space : std::string_view(ref.to.name_space);
  if (space.empty()) return {.fault = "the parameters of a class need the namespace of their ProxyGateway"};
  // Of two with one name the one that linking keeps.
  const auto order = [](const ProxyGateway& gateway) {
    return std::tie(gateway.metadata.created, gateway.metadata.digest);
  };
  Parameters found;
  for (const ProxyGateway& gateway : gateways) {
    if (gateway.metadata.kind != kSettings || gateway.metadata.name != ref.to.name.value ||
        gateway.metadata.name_space != space) {
      continue;
    }
    if (found.settings == nullptr || order(gateway) < order(*found.settings)) found.settings = &gateway;
  }
  if (found.settings == nullptr) {
    found.fault = "there is no usable " + resource_text(kSettings, space, ref.to.name.value);
  }
  return found;
}

void take_settings(const ProxyGateway& from, ProxyGateway& gateway) {
  gateway.agent_groups = from.agent_groups;
  gateway.compression = from.compression;
  gateway.cache = from.cache;
  gateway.tracing = from.tracing;
  gateway.access_log = from.access_log;
  gateway.limits = from.limits;
  gateway.paths = from.paths;
  gateway.canary_header = from.canary_header;
  gateway.reason_header = from.reason_header;
  gateway.redirect_scheme = from.redirect_scheme;
  gateway.trusted_proxies = from.trusted_proxies;
  for (Listener& listener : gateway.listeners) {
    if (listener.protocol.value == "HTTP") listener.redirect_scheme = from.redirect_scheme;
  }
}

}  // namespace edge::compiler::model
