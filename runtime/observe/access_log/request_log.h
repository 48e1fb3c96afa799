// The access log's part of requests and connections: which gateways have a log, what is recorded while a request's head
// is available, and the entry composed at its end.
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

/// One thread's table of the gateways that have a log.
struct LoggedGateways {
  /// By gateway; null: it has no log. Empty: no gateway has one.
  std::vector<const LogFormat*> formats;
  /// By bind: the gateway whose log gets requests that belong to no listener, such as one with an unreadable head: the
  /// first of its listeners' gateways that has a log. kNone: none.
  std::vector<std::uint32_t> of_bind;
  /// Null: no gateway has a log.
  std::unique_ptr<DestinationTexts> destinations;

  bool any() const { return !formats.empty(); }
};

/// `log` null: no gateway has a log.
LoggedGateways logged_gateways(const LoadedProgram& program, AccessLog* log);

/// The logs of one program, and the bind that a request or connection came in on (kNone: it is not in the program any
/// more).
struct LoggedBind {
  const LoadedProgram& program;
  const LoggedGateways& gateways;
  std::uint32_t bind;
};

/// What is recorded of a request while its head is available.
struct NotedRequest {
  const net::http1::RequestHead& head;
  std::string_view host;  ///< canonical; empty: unknown
  std::string_view path;  ///< normalised; empty: unknown
  const IpAddress& source;
  net::Time now;
};
/// Starts the record of a request; null: it is not logged. The log is that of the listener for the host, chosen before
/// a rule is looked for, so that requests without a rule are logged too.
std::unique_ptr<Notes> note_request(const LoggedBind& to, const NotedRequest& request);

/// Starts the record of a request with an unreadable head: the client's address, and method and target where the
/// request line is complete. `head`: as far as it was parsed.
std::unique_ptr<Notes> note_unreadable(const LoggedBind& to, const IpAddress& source,
                                       const net::http1::RequestHead& head);

/// Everything that the entry of a request is composed from.
struct LoggedRequest {
  const LoadedProgram& program;
  const LoggedGateways& gateways;
  const RouteTaken& taken;
  const Notes& notes;
  const ClientConnection& connection;
  std::string_view request_id;
  /// Null: the request is not traced.
  const trace::RequestTrace* trace;
  /// Minor version of the client's HTTP/1.
  std::uint8_t minor;
  net::Time began;
  net::Time ended;
  std::uint64_t unix_milliseconds;
};
void log_request(const LoggedRequest& request, const RequestEnd& end, AccessLog::Pen& pen);

/// A connection that is not HTTP, or has not sent a request yet: the client, and the destination.
struct LoggedConnection {
  const ClientConnection& connection;
  std::string_view server_name;  ///< canonical; empty while unknown
  RouteTaken taken{};
};
/// Starts the entry of a connection. False: it is not logged. Without a listener the entry names no destination.
bool begin_entry(const LoggedBind& to, const LoggedConnection& logged, LogEntry& entry);

/// A connection that ended before anything was requested or forwarded on it.
struct LostConnection {
  std::string_view server_name;  ///< canonical; empty while unknown
  std::string_view reason;
  net::Time began;
};
/// The time of the event loop, and wall-clock time.
struct LogTime {
  net::Time now;
  std::uint64_t unix_milliseconds;
};
void log_lost(const LoggedBind& to, const ClientConnection& connection, const LostConnection& lost, const LogTime& time,
              AccessLog::Pen& pen);

}  // namespace edge::runtime
