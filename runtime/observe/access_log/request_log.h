// What the access log has of requests and connections: which gateways have one, notes taken while a request's head is
// there, and the entry that is put together of them at its end.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "net/clock.h"
#include "net/http1/head.h"
#include "runtime/match/load.h"
#include "runtime/observe/access_log/access_log.h"
#include "runtime/observe/access_log/destination.h"
#include "runtime/observe/access_log/entry.h"
#include "runtime/observe/access_log/notes.h"
#include "runtime/observe/request_end.h"
#include "runtime/observe/trace/tracer.h"
#include "runtime/phase/client_connection.h"

namespace edge::runtime {

/// As one thread looks it up.
struct LoggedGateways {
  /// By gateway; null: it has none. Empty: none has.
  std::vector<const LogFormat*> formats;
  /// By bind: whose log takes requests that no listener does, such as one whose head cannot be read: that of the first
  /// of its listeners that has one. kNone: nobody's.
  std::vector<std::uint32_t> of_bind;
  /// Null: there is none to tell of.
  std::unique_ptr<DestinationTexts> destinations;

  bool any() const { return !formats.empty(); }
};

/// `log` null: nothing is logged.
LoggedGateways logged_gateways(const LoadedProgram& program, AccessLog* log);

/// The logs of one program, and the bind that a request or a connection came in on (kNone: it listens there no more).
struct LoggedBind {
  const LoadedProgram& program;
  const LoggedGateways& gateways;
  std::uint32_t bind;
};

/// What is noted of a request while its head is there.
struct NotedRequest {
  const net::http1::RequestHead& head;
  std::string_view host;  ///< canonical; empty: it was not found out
  std::string_view path;  ///< normalised; empty: it was not found out
  const IpAddress& source;
  net::Time now;
};
/// Null: the request is not logged. Whose log it is, is that of the listener that the host belongs to, before any rule
/// is looked for: what no rule takes is logged, too.
std::unique_ptr<Notes> note_request(const LoggedBind& to, const NotedRequest& request);

/// Of a head that cannot be read: whence it came, and what it asks for where the first line is whole. `head`: as far
/// as it was parsed.
std::unique_ptr<Notes> note_unreadable(const LoggedBind& to, const IpAddress& source,
                                       const net::http1::RequestHead& head);

/// All that the entry of a request is put together of.
struct LoggedRequest {
  const LoadedProgram& program;
  const LoggedGateways& gateways;
  const RouteTaken& taken;
  const Notes& notes;
  const ClientConnection& connection;
  std::string_view request_id;
  /// Null: not traced.
  const trace::RequestTrace* trace;
  /// Of the client's HTTP/1.
  std::uint8_t minor;
  net::Time began;
  net::Time ended;
  std::uint64_t unix_milliseconds;
};
void log_request(const LoggedRequest& request, const RequestEnd& end, AccessLog::Pen& pen);

/// A connection that is no HTTP, or not yet: who called, and where to.
struct LoggedConnection {
  const ClientConnection& connection;
  std::string_view server_name;  ///< canonical, as far as it is known
  RouteTaken taken{};
};
/// Begins the entry. Without a listener what the client asks for is nobody's. False: it is not logged.
bool begin_entry(const LoggedBind& to, const LoggedConnection& logged, LogEntry& entry);

/// A connection that came to its end before anything was asked for or forwarded on it.
struct LostConnection {
  std::string_view server_name;  ///< canonical, as far as it is known
  std::string_view reason;
  net::Time began;
};
/// The time by the loop, and by the clock on the wall.
struct LogTime {
  net::Time now;
  std::uint64_t unix_milliseconds;
};
void log_lost(const LoggedBind& to, const ClientConnection& connection, const LostConnection& lost, const LogTime& time,
              AccessLog::Pen& pen);

}  // namespace edge::runtime
