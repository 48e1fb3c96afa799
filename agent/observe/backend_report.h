// Writes the document of GET /debug/endpoints: backends and the state of their endpoints.
#pragma once

#include <chrono>
#include <span>
#include <string>

#include "runtime/upstream/health/backend_status.h"

namespace edge::agent {

/// Formats an address: `10.0.0.1:80`, `[fd00::1]:80`.
std::string address_text(const net::SocketAddress& address);
/// Writes JSON: `{"backends": [{"namespace", "name", "healthyCount", "unhealthyCount", "circuit", "endpoints": [...],
/// ...}]}`, and `"names": [{"name", "addresses", "error"}]` of a backend with endpoints by name. `zone`: the agent's,
/// written unless it is empty.
std::string endpoints_document(std::span<const runtime::BackendStatus> backends,
                               std::chrono::system_clock::time_point now, const std::string& zone = {});

}  // namespace edge::agent
