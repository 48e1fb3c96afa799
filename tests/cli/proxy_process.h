// edge-standalone or edge-agent under test, with the ports that it chose.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/cli/process.h"

namespace edge::test {

class ProxyProcess {
 public:
  /// Adds port 0 to `command` for everything that it names no port for, and starts it.
  explicit ProxyProcess(std::vector<std::string> command);

  /// Waits for `ready program=<hash>` and gives the hash, empty when it does not come. Ports are known afterwards.
  std::string wait_ready();
  /// The same for `programmed program=<hash>`.
  std::string wait_programmed();

  int metrics_port = 0;
  int health_port = 0;
  int port = 0;         ///< of the listener `http`
  int otlp_port = 0;    ///< of edge-standalone: where traces are taken
  int traces_port = 0;  ///< of edge-standalone: where they are asked for
  Process process;

 private:
  bool keeps_traces_ = false;
};

/// examples/quick-start/backend.py on a port of its own.
class Backend {
 public:
  explicit Backend(const std::string& name);
  int port = 0;

 private:
  Process process_;
};

/// A listening socket of the test itself.
class ListeningSocket {
 public:
  ListeningSocket();
  ~ListeningSocket();
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;
  int accept_one() const;
  int port = 0;

 private:
  int fd_;
};

/// Body of `curl` on a path, for the host `shop.example` (but under /debug); with the status in front: `200 body`.
std::string curl(int port, const std::string& path, const std::vector<std::string>& more = {});
/// The field that a change by an admin port must have, from the file that the port names.
std::string admin_authorization(int port);

/// Gateway, backend and its endpoint.
std::string base_config(int backend_port, int listener_port = 8080);
/// A route of that gateway with one exact path.
std::string route_config(const std::string& name, const std::string& path, const std::string& spec = {});

}  // namespace edge::test
