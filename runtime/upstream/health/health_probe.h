// One health check of an endpoint, over TLS and HTTP/2 where the backend uses them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/http1/chunked.h"
#include "net/http1/parse.h"
#include "net/http2/client_connection.h"
#include "net/loop.h"
#include "net/task.h"
#include "net/tls/client.h"
#include "net/tls/record_layer.h"
#include "program/format/format.h"
#include "program/read.h"

namespace edge::runtime {

/// How the endpoints of a backend are checked. Owns its texts: it outlives the program that it came from.
struct CheckSettings {
  program::ProbeProtocol protocol = program::ProbeProtocol::kHttp;
  bool http2 = false;
  bool encrypted = false;
  /// Null although encrypted: the trusted CAs are unknown, and the check fails without sending anything.
  std::shared_ptr<const net::tls::ClientContext> tls;
  net::Duration interval{};
  net::Duration timeout{};
  net::Duration initial_delay{};
  std::string path;
  std::string host;  ///< empty: the endpoint's address
  std::string grpc_service;
  std::string announcement;             ///< the PROXY header that the connection begins with; empty: none
  std::vector<std::uint32_t> expected;  ///< ascending
  std::vector<std::pair<std::string, std::string>> headers;
  friend bool operator==(const CheckSettings&, const CheckSettings&) = default;
};

/// Objects that the probes of one thread share; not used across suspensions.
struct ProbeRoom {
  net::Loop loop;
  net::tls::RecordRoom records;
  net::http2::ClientEngine http2{net::http2::ClientSettings{}};
  net::http1::ResponseHead head;
  std::array<char, 16 * 1024> scratch{};
};

class HealthProbe {
 public:
  HealthProbe(ProbeRoom& room, net::Waiter& waiter, const CheckSettings& settings, const net::SocketAddress& address);

  /// Runs the check. \returns what is wrong, empty when the endpoint is healthy. Closes all connections.
  net::Task<std::string> ask();

 private:
  enum class Progress : std::uint8_t { kMore, kDone };

  net::Task<std::string> connect(net::Time until);
  net::Task<std::string> secure(net::Time until);
  net::Task<std::string> exchange(net::Time until);
  net::Task<std::string> send(std::string_view text, net::Time until);
  Progress read();
  Progress take_head();
  Progress take_body();
  Progress end(std::string fault);

  ProbeRoom& room_;
  net::Waiter& waiter_;
  const CheckSettings& settings_;
  const net::SocketAddress address_;
  const bool grpc_;
  std::string request_;
  net::Channel channel_;
  std::string received_;
  std::string body_;
  std::string grpc_status_;
  std::string fault_;
  net::http1::ParseHint hint_;
  net::http1::ChunkedDecoder chunks_;
  bool head_taken_ = false;
};

/// Returns `10.0.0.1:80`, `[fd00::1]:80`.
std::string address_text(const net::SocketAddress& address);

}  // namespace edge::runtime
