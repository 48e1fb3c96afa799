// Sends one HTTP request to a server named by the user: a trace store, Prometheus, an agent's admin port.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/result.h"
#include "net/client/query_text.h"

namespace edge::edgectl {

struct WebOptions {
  std::string accept = "application/json";
  std::string token{};                           ///< `Authorization: Bearer`; empty: none
  std::chrono::milliseconds time{20'000};        ///< for the whole call
  std::size_t max_body = std::size_t{64} << 20;  ///< a larger response is an error
};

struct WebAnswer {
  int status = 0;
  std::string content_type;
  std::string body;
};

/// Sends GET over http or https (trusting the system's CAs); redirects are not followed. Blocks. Returns a response of
/// any status. kInvalidArgument: invalid URL; kUnavailable: no response, or too large a one, naming `url`.
Result<WebAnswer> web_get(const std::string& url, const WebOptions& options = {});

using net::client::url_encoded;

}  // namespace edge::edgectl
