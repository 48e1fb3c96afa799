// `edgectl web`: the dashboard's server, the JSON API and the page on one port.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "base/result.h"
#include "edgectl/web/api/api.h"
#include "edgectl/web/login/login.h"
#include "edgectl/web/server/certificate_files.h"
#include "net/server/http_server.h"

namespace edge::edgectl::web {

struct ServerSettings {
  std::optional<IpAddress> address{};    ///< none: every address
  std::uint16_t port = 0;                ///< 0: chosen by the system
  CertificatePair certificate{};         ///< empty: plain text
  std::vector<std::string> names{};      ///< host names in addition to localhost; lower case
  std::optional<LoginSettings> login{};  ///< none: every viewer has the rights of the kubeconfig
  ApiOptions api;
};

/// What `--listen` means.
struct ListenAddress {
  std::optional<IpAddress> address{};
  std::uint16_t port = 0;
  bool loopback = false;
};
/// Parses `[ADDRESS]:PORT`; without an address 127.0.0.1, unless `everywhere`: every address. kInvalidArgument.
Result<ListenAddress> parse_listen(const std::string& text, bool everywhere);

class WebServer {
 public:
  /// Serves on a thread of its own. Does not wait for the resource API.
  static Result<std::unique_ptr<WebServer>> start(ServerSettings settings);
  /// Ends streams and calls, and waits for them.
  ~WebServer();

  net::SocketAddress address() const { return thread_->address(); }
  /// For new connections, which may then name the server as the certificate does. An error: the one in use stays.
  Status replace_certificate(const CertificatePair& pair);
  /// Returns `http://127.0.0.1:9080`.
  std::string url() const;

 private:
  struct Parts;
  WebServer(std::shared_ptr<Parts> parts, std::unique_ptr<net::server::ServerThread> thread, bool tls);

  std::shared_ptr<Parts> parts_;
  std::unique_ptr<net::server::ServerThread> thread_;
  bool tls_;
};

}  // namespace edge::edgectl::web
