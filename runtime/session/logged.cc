// What the access log is told of an exchange: noted while its head is there, put together when it has ended.
#include "runtime/session/logged.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>

#include "base/ascii.h"
#include "net/http1/parse.h"
#include "program/records.h"
#include "runtime/match/decide.h"
#include "runtime/session/session.h"
#include "runtime/session/worker.h"

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

LoggedProtocol protocol_of(const ClientConnection& connection, const Exchange& exchange) {
  if (connection.http == 2) return LoggedProtocol::kHttp2;
  return exchange.minor == 0 ? LoggedProtocol::kHttp10 : LoggedProtocol::kHttp11;
}

/// Of a connection that carries no request, or not yet.
LoggedProtocol transport_of(program::Protocol protocol) {
  const bool encrypted = protocol == program::Protocol::kHttps || protocol == program::Protocol::kTls;
  return encrypted ? LoggedProtocol::kTls : LoggedProtocol::kTcp;
}

std::span<const program::GatewayRecord> gateways_of(const LoadedProgram& program) {
  const program::SectionView& section = program.listeners_section();
  return section.array(section.header<program::ListenersHeader>().gateways);
}

/// Once a thread and program for each place.
PlaceNames names_of(const LoadedProgram& program, const LoggedPlace& place) {
  PlaceNames names;
  const program::SectionView& section = program.listeners_section();
  names.gateway_space = section.string(place.gateway->name_space);
  names.gateway = section.string(place.gateway->name);
  if (place.listener != nullptr) names.listener = section.string(place.listener->name);
  if (place.host != nullptr) {
    const program::RouteRecord& route = place.host->routes[place.action->route];
    names.route_space = program::name_space_of(place.host->view, route);
    names.route = place.host->view.string(route.name);
    names.rule = place.action->rule;
  }
  if (place.pool == nullptr) return names;
  // By its id: what the pool knows of it may be a later program's by now.
  const std::uint32_t index = program.backend_index(place.pool->state().id());
  if (index == program::kNone) return names;
  const program::BackendRecord& backend = program.backends()[index];
  names.backend_space = program.backends_section().string(backend.name_space);
  names.backend = program.backends_section().string(backend.name);
  return names;
}

/// Of the loop, which reads the clock once a batch. What ended in the batch that it began in would have taken no time
/// at all: for that it is read once more.
net::Time end_of(const Exchange& exchange, Worker& worker) {
  if (worker.loop().now() != exchange.began) return worker.loop().now();
  const net::Clock* const clock = worker.options().clock;
  return clock != nullptr ? clock->now() : net::Time(std::chrono::steady_clock::now());
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
  logged.places = std::make_unique<LogPlaces>();
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

std::string_view place_text(const ThreadProgram& program, const LoggedPlace& place) {
  const void* const taken_by =
      place.listener != nullptr ? static_cast<const void*>(place.listener) : static_cast<const void*>(place.gateway);
  return program.logged.places->text({taken_by, place.action, place.pool},
                                     [&] { return names_of(*program.program, place); });
}

void name_connection(const ClientConnection& connection, LogEntry& entry) {
  entry.facts.client_port = entry.facts.client == connection.peer ? connection.peer_port : 0;
  entry.facts.secure = connection.secure();
  if (!connection.secure()) return;
  entry[LogText::kTlsVersion] = connection.tls->version;
  entry[LogText::kTlsCipher] = connection.tls->cipher;
  entry[LogText::kServerName] = connection.tls->server_name;
}

bool begin_entry(const ThreadProgram& program, const ClientConnection& connection, std::string_view server_name,
                 LoggedPlace place, LogEntry& entry) {
  const LoadedProgram& loaded = *program.program;
  const std::uint32_t bind = program.entrances[connection.slot].bind;
  if (!program.logged.any() || bind == program::kNone) return false;
  const std::uint32_t index = place.listener != nullptr ? place.listener->gateway : program.logged.of_bind[bind];
  if (index == program::kNone || program.logged.formats[index] == nullptr) return false;
  place.gateway = &gateways_of(loaded)[index];
  entry.facts.format = program.logged.formats[index];
  entry.facts.client = connection.peer;
  entry.facts.protocol = transport_of(loaded.binds()[bind].protocol);
  name_connection(connection, entry);
  entry[LogText::kPlace] = place_text(program, place);
  entry[LogText::kServerName] = server_name;
  return true;
}

void log_lost(Worker& worker, const ThreadProgram& program, const LostConnection& lost) {
  if (!program.logged.any()) return;
  const std::uint32_t bind = program.entrances[lost.connection.slot].bind;
  const bool named = bind != program::kNone && !lost.server_name.empty();
  LogEntry entry;
  const LoadedListener* const listener = named ? find_listener(*program.program, bind, lost.server_name) : nullptr;
  const LoggedPlace place{.listener = listener == nullptr ? nullptr : listener->record};
  if (!begin_entry(program, lost.connection, lost.server_name, place, entry)) return;
  entry[LogText::kReason] = lost.reason;
  entry.facts.unix_milliseconds = worker.unix_milliseconds();
  entry.facts.total = (worker.loop().now() - lost.began).count();
  worker.access_log().write(entry);
}

// While the head is there. Whose log it is, is that of the listener that the host belongs to, before any rule is looked
// for: what no rule takes is logged, too.
void Session::note(Exchange& exchange, const Arrival& arrival) {
  const RequestHead& head = worker_.scratch().request;
  Notes* const notes = begin_notes(exchange, arrival.host, arrival.path.empty() ? head.path : arrival.path);
  if (notes == nullptr) return;
  notes->client = arrival.source;
  notes->keep(Notes::Text::kMethod, head.method_text);
  notes->keep(Notes::Text::kHost, arrival.host.empty() ? head.host : arrival.host);
  notes->keep(Notes::Text::kPath, arrival.path.empty() ? head.path : arrival.path);
  if (head.has_query) notes->keep(Notes::Text::kQuery, head.query);
  notes->keep(Notes::Text::kReferer, referer_of(head));
  notes->keep(Notes::Text::kUserAgent, head.fields.value(KnownField::kUserAgent));
  notes->head_at = worker_.loop().now();
}

// Of a head that cannot be read: whence it came, and what it asks for where the first line is whole. It is read once
// more, as its bytes may have moved since. Whoever is excluded by his path is not here: this is no healthy request.
void Session::note_refused(Exchange& exchange) {
  exchange.program = worker_.pin();
  if (!exchange.program->logged.any()) return;
  Notes* const notes = begin_notes(exchange, {}, {});
  if (notes == nullptr) return;
  notes->client = connection_.peer;
  RequestHead& head = worker_.scratch().request;
  net::http1::ParseHint hint;
  static_cast<void>(net::http1::parse_request(inlet_.unread(), worker_.scratch().limits, hint, head));
  notes->keep(Notes::Text::kMethod, head.method_text);
  // An absolute form may name a user and his password.
  if (!head.target.starts_with('/')) return;
  notes->keep(Notes::Text::kPath, head.target.substr(0, head.target.find('?')));
  if (head.has_query) notes->keep(Notes::Text::kQuery, head.query);
}

// Null: the exchange is not logged.
Notes* Session::begin_notes(Exchange& exchange, std::string_view host, std::string_view path) {
  const LoadedProgram& program = *exchange.program->program;
  const LoggedGateways& logged = exchange.program->logged;
  const std::uint32_t bind = exchange.program->bind_of_slot[connection_.slot];
  if (bind == program::kNone) return nullptr;
  const LoadedListener* const listener = host.empty() ? nullptr : find_listener(program, bind, host);
  const std::uint32_t index = listener != nullptr ? listener->record->gateway : logged.of_bind[bind];
  if (index == program::kNone || logged.formats[index] == nullptr) return nullptr;
  const program::SectionView& section = program.listeners_section();
  const program::GatewayRecord& gateway = gateways_of(program)[index];
  if (!path.empty() && excluded(section, section.array(gateway.access_log)[0], path)) return nullptr;
  exchange.notes = std::make_unique<Notes>(*logged.formats[index], gateway);
  if (listener != nullptr) exchange.notes->listener = listener->record;
  return exchange.notes.get();
}

void Session::log(const Exchange& exchange, const Ending& ending) {
  const Notes& notes = *exchange.notes;
  LogEntry entry;
  take_notes(notes, entry);
  name_connection(connection_, entry);
  entry[LogText::kPlace] =
      place_text(*exchange.program, {notes.gateway, notes.listener, exchange.host, exchange.action, exchange.pool});
  entry[LogText::kReason] = ending.reason;
  entry[LogText::kRequestId] = exchange.id.text();
  std::array<char, 32> trace_id;
  if (exchange.trace != nullptr) {
    trace_id = exchange.trace->id_text();
    entry[LogText::kTraceId] = {trace_id.data(), trace_id.size()};
  }
  LogFacts& facts = entry.facts;
  facts.unix_milliseconds = worker_.unix_milliseconds();
  facts.protocol = protocol_of(connection_, exchange);
  facts.head = between(exchange.began, notes.head_at);
  facts.total = between(exchange.began, end_of(exchange, worker_));
  facts.status = static_cast<std::uint16_t>(ending.status);
  facts.received = ending.received;
  facts.sent = ending.sent;
  facts.attempts = ending.attempts;
  worker_.access_log().write(entry);
}

}  // namespace edge::runtime
