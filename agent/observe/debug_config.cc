#include "agent/observe/debug_config.h"

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "daemon/admin.h"

namespace edge::agent {

std::string config_document(const runtime::Server& server) {
  nlohmann::ordered_json document;
  const auto program = server.program();
  document["program"] = nullptr;
  if (program != nullptr) {
    document["program"] = {{"hash", program::to_hex(program->hash())}, {"bytes", program->view().bytes().size()},
                           {"nativeCode", program->has_native_code()}, {"listeners", program->listener_count()},
                           {"hosts", program->hosts().size()},         {"backends", program->backends().size()}};
  }
  document["listeners"] = nlohmann::ordered_json::array();
  for (const runtime::BoundAddress& bound : server.addresses()) {
    document["listeners"].push_back(
        {{"name", bound.listener}, {"address", to_string(daemon::ListenAddress{bound.address, bound.port})}});
  }
  document["unboundListeners"] = nlohmann::ordered_json::array();
  for (const runtime::UnboundListener& one : server.unbound()) {
    document["unboundListeners"].push_back(
        {{"name", one.name_space + "/" + one.gateway + "/" + one.listener}, {"reason", one.reason}});
  }
  document["secretFaults"] = server.secret_faults();
  document["version"] = EDGE_VERSION;
  // Names are configuration, and may hold bytes that are no text.
  return indented_json(document);
}

}  // namespace edge::agent
