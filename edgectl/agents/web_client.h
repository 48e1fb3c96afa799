// One question over HTTP to a server that a user has named: a trace store, Prometheus, an agent's admin port.
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
  std::chrono::milliseconds time{20'000};        ///< of the whole call
  std::size_t max_body = std::size_t{64} << 20;  ///< an answer with more is a fault
};

struct WebAnswer {
  int status = 0;
  std::string content_type;
  std::string body;
};

/// GET. http and https (believing whom the system believes); redirects are not followed. Blocks. The answer is one of
/// any status. kInvalidArgument: no such URL; kUnavailable: no answer, or too large a one, with `url` named.
Result<WebAnswer> web_get(const std::string& url, const WebOptions& options = {});

using net::client::url_encoded;

}  // namespace edge::edgectl
