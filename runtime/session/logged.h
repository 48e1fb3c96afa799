// Which gateways of a program have an access log, as one thread looks it up.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "net/clock.h"
#include "runtime/match/load.h"
#include "runtime/observe/access_log.h"
#include "runtime/observe/log_place.h"

namespace edge::runtime {

class BackendPool;
struct ThreadProgram;
class Worker;

struct LoggedGateways {
  /// By gateway; null: it has none. Empty: none has.
  std::vector<const LogFormat*> formats;
  /// By bind: whose log takes requests that no listener does, such as one whose head cannot be read: that of the first
  /// of its listeners that has one. kNone: nobody's.
  std::vector<std::uint32_t> of_bind;
  /// Null: there is none to tell of.
  std::unique_ptr<LogPlaces> places;

  bool any() const { return !formats.empty(); }
};

/// `log` null: nothing is logged.
LoggedGateways logged_gateways(const LoadedProgram& program, AccessLog* log);

/// Where an exchange or a connection went, as far as it came. Records of the program that it pins.
struct LoggedPlace {
  const program::GatewayRecord* gateway = nullptr;
  const program::ListenerRecord* listener = nullptr;
  const LoadedHost* host = nullptr;
  const program::ActionRecord* action = nullptr;
  BackendPool* pool = nullptr;
};
/// As an entry has it; stays until the next call.
std::string_view place_text(const ThreadProgram& program, const LoggedPlace& place);

struct ClientConnection;
void name_connection(const ClientConnection& connection, LogEntry& entry);

/// Begins the entry of a connection that is no HTTP, or not yet: whose log it is, who called, and where to: `place`
/// but for its gateway. Without a listener what the client asks for is nobody's. False: it is not logged.
bool begin_entry(const ThreadProgram& program, const ClientConnection& connection, std::string_view server_name,
                 LoggedPlace place, LogEntry& entry);

/// A connection that came to its end before anything was asked for or forwarded on it.
struct LostConnection {
  const ClientConnection& connection;
  std::string_view server_name;  ///< canonical, as far as it is known
  std::string_view reason;
  net::Time began;
};
void log_lost(Worker& worker, const ThreadProgram& program, const LostConnection& lost);

}  // namespace edge::runtime
