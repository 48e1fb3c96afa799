#include "runtime/observe/access_log/request_log.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "base/text/ascii.h"
#include "program/format/records.h"
#include "runtime/match/decide.h"

namespace edge::runtime {
namespace {

using net::http1::KnownField;
using net::http1::RequestHead;

/// The rule of D9: an entry that ends in `/` is a prefix, any other is the whole path.
bool excluded(const program::SectionView& listeners, const program::AccessLogRecord& settings, std::string_view path) {
  const auto covers = [&](program::StringRef text) {
    const std::string_view entry = listeners.string(text);
    return entry.ends_with('/') ? path.starts_with(entry) : path == entry;
  };
  return std::ranges::any_of(listeners.array(settings.exclude_paths), covers);
}

/// -1 where one of the two was not reached.
std::int64_t between(net::Time from, net::Time to) {
  if (from == net::Time{} || to == net::Time{}) return -1;
  return std::max<std::int64_t>(0, (to - from).count());
}

std::string_view referer_of(const RequestHead& head) {
  const auto fields = head.fields.all();
  const auto found =
      std::ranges::find_if(fields, [](const Field& field) { return equals_ignoring_case(field.name, "referer"); });
  return found == fields.end() ? std::string_view{} : found->value;
}

LoggedProtocol protocol_of(const ClientConnection& connection, std::uint8_t minor) {
  if (connection.http == 2) return LoggedProtocol::kHttp2;
  return minor == 0 ? LoggedProtocol::kHttp10 : LoggedProtocol::kHttp11;
}

/// Of a connection that carries no request, or not yet.
LoggedProtocol transport_of(program::Protocol protocol) {
  if (protocol == program::Protocol::kUdp) return LoggedProtocol::kUdp;
  const bool encrypted = protocol == program::Protocol::kHttps || protocol == program::Protocol::kTls;
  return encrypted ? LoggedProtocol::kTls : LoggedProtocol::kTcp;
}

std::span<const program::GatewayRecord> gateways_of(const LoadedProgram& program) {
  const program::SectionView& section = program.listeners_section();
  return section.array(section.header<program::ListenersHeader>().gateways);
}

/// The destination of a request, and the gateway and listener whose access log records it.
struct LoggedDestination {
  const program::GatewayRecord& gateway;
  /// Null: none took it.
  const program::ListenerRecord* listener;
  const LoadedHost* host;
  const program::ActionRecord* action;
  const program::BackendRecord* backend;
};

/// Once a thread and program for each place.
DestinationNames names_of(const LoadedProgram& program, const LoggedDestination& destination) {
  DestinationNames names;
  const program::SectionView& section = program.listeners_section();
  names.gateway_space = section.string(destination.gateway.name_space);
  names.gateway = section.string(destination.gateway.name);
  if (destination.listener != nullptr) names.listener = section.string(destination.listener->name);
  if (destination.host != nullptr) {
    const program::RouteRecord& route = destination.host->routes[destination.action->route];
    names.route_space = program::name_space_of(destination.host->view, route);
    names.route = destination.host->view.string(route.name);
    names.rule = destination.action->rule;
  }
  if (destination.backend == nullptr) return names;
  const program::BackendRecord& backend = *destination.backend;
  names.backend_space = program.backends_section().string(backend.name_space);
  names.backend = program.backends_section().string(backend.name);
  return names;
}

/// As an entry has it; stays until the next call.
std::string_view destination_text(const LoadedProgram& program, const LoggedGateways& gateways,
                                  const LoggedDestination& destination) {
  const void* const taken_by = destination.listener != nullptr ? static_cast<const void*>(destination.listener)
                                                               : static_cast<const void*>(&destination.gateway);
  return gateways.destinations->text({taken_by, destination.action, destination.backend},
                                     [&] { return names_of(program, destination); });
}

void name_connection(const ClientConnection& connection, LogEntry& entry) {
  entry.facts.client_port = entry.facts.client == connection.peer ? connection.peer_port : 0;
  entry.facts.secure = connection.secure();
  if (!connection.secure()) return;
  entry[LogText::kTlsVersion] = connection.tls->version;
  entry[LogText::kTlsCipher] = connection.tls->cipher;
  entry[LogText::kServerName] = connection.tls->server_name;
}

void take_notes(const Notes& notes, LogEntry& entry) {
  entry.facts.format = notes.format;
  entry.facts.client = notes.client;
  entry.facts.policies = between(notes.head_at, notes.decided_at);
  entry.facts.connect = between(notes.try_at, notes.connected_at);
  entry.facts.answer = between(notes.connected_at, notes.answered_at);
  entry.facts.endpoint = notes.endpoint;
  entry[LogText::kMethod] = notes.text(Notes::Text::kMethod);
  entry[LogText::kHost] = notes.text(Notes::Text::kHost);
  entry[LogText::kPath] = notes.text(Notes::Text::kPath);
  entry[LogText::kQuery] = notes.text(Notes::Text::kQuery);
  entry[LogText::kReferer] = notes.text(Notes::Text::kReferer);
  entry[LogText::kUserAgent] = notes.text(Notes::Text::kUserAgent);
}

/// Null: it is not logged.
std::unique_ptr<Notes> begin_notes(const LoggedBind& to, std::string_view host, std::string_view path) {
  if (to.bind == program::kNone) return nullptr;
  const LoadedListener* const listener = host.empty() ? nullptr : find_listener(to.program, to.bind, host);
  const std::uint32_t index = listener != nullptr ? listener->record->gateway : to.gateways.of_bind[to.bind];
  if (index == program::kNone || to.gateways.formats[index] == nullptr) return nullptr;
  const program::SectionView& section = to.program.listeners_section();
  const program::GatewayRecord& gateway = gateways_of(to.program)[index];
  if (!path.empty() && excluded(section, section.array(gateway.access_log)[0], path)) return nullptr;
  auto notes = std::make_unique<Notes>(*to.gateways.formats[index], gateway);
  if (listener != nullptr) notes->listener = listener->record;
  return notes;
}

}  // namespace

LoggedGateways logged_gateways(const LoadedProgram& program, AccessLog* log) {
  LoggedGateways logged;
  if (log == nullptr) return logged;
  const program::SectionView& section = program.listeners_section();
  bool any = false;
  for (const program::GatewayRecord& gateway : gateways_of(program)) {
    const auto* settings = program::optional_of(section, gateway.access_log);
    logged.formats.push_back(settings == nullptr ? nullptr : &log->format(section.string(settings->format)));
    any = any || settings != nullptr;
  }
  if (!any) return {};
  logged.destinations = std::make_unique<DestinationTexts>();
  for (const program::BindRecord& bind : program.binds()) {
    std::uint32_t first = program::kNone;
    const auto look = [&](std::uint32_t listener) {
      if (listener == program::kNone || logged.formats[program.listener(listener).record->gateway] == nullptr) return;
      first = std::min(first, listener);
    };
    look(bind.listeners.fallback);
    for (const program::NameEntry& entry : section.array(bind.listeners.entries)) {
      look(entry.exact);
      look(entry.wildcard);
    }
    logged.of_bind.push_back(first == program::kNone ? first : program.listener(first).record->gateway);
  }
  return logged;
}

std::unique_ptr<Notes> note_request(const LoggedBind& to, const NotedRequest& request) {
  const RequestHead& head = request.head;
  const std::string_view path = request.path.empty() ? head.path : request.path;
  std::unique_ptr<Notes> notes = begin_notes(to, request.host, path);
  if (notes == nullptr) return notes;
  notes->client = request.source;
  notes->keep(Notes::Text::kMethod, head.method_text);
  notes->keep(Notes::Text::kHost, request.host.empty() ? head.host : request.host);
  notes->keep(Notes::Text::kPath, path);
  if (head.has_query) notes->keep(Notes::Text::kQuery, head.query);
  notes->keep(Notes::Text::kReferer, referer_of(head));
  notes->keep(Notes::Text::kUserAgent, head.fields.value(KnownField::kUserAgent));
  notes->head_at = request.now;
  return notes;
}

// Whoever is excluded by his path is not here: this is no healthy request.
std::unique_ptr<Notes> note_unreadable(const LoggedBind& to, const IpAddress& source, const RequestHead& head) {
  std::unique_ptr<Notes> notes = begin_notes(to, {}, {});
  if (notes == nullptr) return notes;
  notes->client = source;
  notes->keep(Notes::Text::kMethod, head.method_text);
  // An absolute form may name a user and his password.
  if (!head.target.starts_with('/')) return notes;
  notes->keep(Notes::Text::kPath, head.target.substr(0, head.target.find('?')));
  if (head.has_query) notes->keep(Notes::Text::kQuery, head.query);
  return notes;
}

void log_request(const LoggedRequest& request, const RequestEnd& end, AccessLog::Pen& pen) {
  const Notes& notes = request.notes;
  const RouteTaken& taken = request.taken;
  LogEntry entry;
  take_notes(notes, entry);
  name_connection(request.connection, entry);
  entry[LogText::kDestination] = destination_text(
      request.program, request.gateways, {*notes.gateway, notes.listener, taken.host, taken.action, taken.backend});
  std::string elsewhere;
  if (notes.cluster != nullptr) [[unlikely]] {
    elsewhere = entry[LogText::kDestination];
    append_cluster(*notes.cluster, elsewhere);
    entry[LogText::kDestination] = elsewhere;
  }
  entry[LogText::kReason] = end.reason;
  entry[LogText::kRequestId] = request.request_id;
  std::array<char, 32> trace_id;
  if (request.trace != nullptr) {
    trace_id = request.trace->id_text();
    entry[LogText::kTraceId] = {trace_id.data(), trace_id.size()};
  }
  LogFacts& facts = entry.facts;
  facts.unix_milliseconds = request.unix_milliseconds;
  facts.protocol = protocol_of(request.connection, request.minor);
  facts.head = between(request.began, notes.head_at);
  facts.total = between(request.began, request.ended);
  facts.status = static_cast<std::uint16_t>(end.status);
  facts.received = end.received;
  facts.sent = end.sent;
  facts.attempts = end.attempts;
  pen.write(entry);
}

bool begin_entry(const LoggedBind& to, const LoggedConnection& logged, LogEntry& entry) {
  if (!to.gateways.any() || to.bind == program::kNone) return false;
  const RouteTaken& taken = logged.taken;
  const program::ListenerRecord* const listener = taken.listener == nullptr ? nullptr : taken.listener->record;
  const std::uint32_t index = listener != nullptr ? listener->gateway : to.gateways.of_bind[to.bind];
  if (index == program::kNone || to.gateways.formats[index] == nullptr) return false;
  entry.facts.format = to.gateways.formats[index];
  entry.facts.client = logged.connection.peer;
  entry.facts.protocol = transport_of(to.program.binds()[to.bind].protocol);
  name_connection(logged.connection, entry);
  entry[LogText::kDestination] = destination_text(
      to.program, to.gateways, {gateways_of(to.program)[index], listener, taken.host, taken.action, taken.backend});
  entry[LogText::kServerName] = logged.server_name;
  return true;
}

void log_lost(const LoggedBind& to, const ClientConnection& connection, const LostConnection& lost, const LogTime& time,
              AccessLog::Pen& pen) {
  if (!to.gateways.any()) return;
  const bool named = to.bind != program::kNone && !lost.server_name.empty();
  LogEntry entry;
  RouteTaken taken;
  if (named) taken.listener = find_listener(to.program, to.bind, lost.server_name);
  if (!begin_entry(to, {connection, lost.server_name, taken}, entry)) return;
  entry[LogText::kReason] = lost.reason;
  entry.facts.unix_milliseconds = time.unix_milliseconds;
  entry.facts.total = (time.now - lost.began).count();
  pen.write(entry);
}

}  // namespace edge::runtime
