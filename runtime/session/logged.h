// Which gateways of a program have an access log, as one thread looks it up.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/match/load.h"
#include "runtime/observe/access_log.h"

namespace edge::runtime {

struct LoggedGateways {
  /// By gateway; null: it has none. Empty: none has.
  std::vector<const LogFormat*> formats;
  /// By bind: whose log takes requests that no listener does, such as one whose head cannot be read: that of the first
  /// of its listeners that has one. kNone: nobody's.
  std::vector<std::uint32_t> of_bind;

  bool any() const { return !formats.empty(); }
};

/// `log` null: nothing is logged.
LoggedGateways logged_gateways(const LoadedProgram& program, AccessLog* log);

/// Gateway and listener, as a line names them. Views of the program.
void name_gateway(const LoadedProgram& program, const program::GatewayRecord& gateway,
                  const program::ListenerRecord* listener, LogEntry& entry);
void name_route(const LoadedHost& host, const program::ActionRecord& action, LogEntry& entry);
void name_backend(const LoadedProgram& program, std::uint64_t backend_id, LogEntry& entry);
struct ClientConnection;
void name_connection(const ClientConnection& connection, LogEntry& entry);

}  // namespace edge::runtime
