// The control plane as users have it: real processes, the API by our own client, requests by curl.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json_fwd.hpp>

#include "controller/kube/blocking_client.h"
#include "tests/cli/proxy_process.h"
#include "tests/support/lasting_port.h"

namespace edge::test {

using Json = nlohmann::json;

/// Looks until it holds, at most half a minute.
bool eventually(const std::function<bool()>& holds);

Json own(const std::string& kind, const std::string& name, const Json& spec);
/// Of the gateway `gw`, to the backend `be`, with one exact path.
Json route(const std::string& name, const std::string& path);

/// The API behind a kubeconfig, as a user of kubectl has it.
class Api {
 public:
  explicit Api(const std::string& kubeconfig);

  void apply(const Json& object);
  void remove(const std::string& kind, const std::string& name);
  /// null: there is none.
  Json get(const std::string& kind, const std::string& name);
  /// Of the present generation; an empty object: there is none.
  Json condition(const std::string& kind, const std::string& name, const std::string& type);
  bool says(const std::string& kind, const std::string& name, const std::string& type, const std::string& status);
  void apply_world(int backend_port);

 private:
  std::unique_ptr<kube::BlockingClient> client_;
};

class Control : public testing::Test {
 protected:
  std::unique_ptr<ProxyProcess> standalone(const std::vector<std::string>& more = {});
  bool answers(int port, const std::string& path, const std::string& with);
  /// The listener's port is told once the gateway is programmed.
  static int port_of(ProxyProcess& proxy);

  TempDir dir_;
  Backend backend_{"one"};
};

/// API, controllers and agents as processes of their own.
class Parts : public Control {
 protected:
  /// Its standard input must not end. Its port stays the same over a restart.
  std::unique_ptr<Process> serve_api();
  /// `name`: of its data directory. Its port stays the same over a restart.
  std::unique_ptr<Process> controller(const std::string& name = "controller",
                                      const std::vector<std::string>& more = {});
  std::unique_ptr<ProxyProcess> agent(const std::string& name = "one", const std::string& of = "controller",
                                      const std::vector<std::string>& more = {});

  /// With the administrator's credentials of the controller `of`.
  Finished edgectl(std::vector<std::string> words, const std::string& of = "controller");

  const std::string api_port_ = std::to_string(lasting_port());
  std::map<std::string, std::string> controller_ports_;  ///< by name
};

}  // namespace edge::test
