// The one place where an exchange tells what became of it: of HTTP/1 and of a stream of HTTP/2, forwarded, answered by
// the cache or by the proxy itself, broken off. Whoever looks on is told here, and none of them waits or locks.
#include <string>
#include <string_view>

#include "program/records.h"
#include "runtime/session/session.h"
#include "runtime/session/traced.h"
#include "runtime/session/worker.h"

namespace edge::runtime {
namespace {

TallyPlace place_of(const Exchange& exchange) {
  return {exchange.listener == nullptr ? nullptr : exchange.listener->gateway,
          exchange.host == nullptr ? nullptr : &exchange.host->routes[exchange.action->route], exchange.pool};
}

std::string full_name(std::string_view name_space, std::string_view name) {
  return std::string(name_space) + "/" + std::string(name);
}

// Once a thread and program for each place that requests go to.
TallyNames names_of(const Exchange& exchange) {
  TallyNames names;
  if (exchange.listener == nullptr) return names;
  const LoadedProgram& program = *exchange.program->program;
  const program::GatewayRecord& gateway = *exchange.listener->gateway;
  const program::SectionView& listeners = program.listeners_section();
  names.gateway = full_name(listeners.string(gateway.name_space), listeners.string(gateway.name));
  if (exchange.host == nullptr) return names;
  const program::SectionView& section = exchange.host->view;
  const program::RouteRecord& route = exchange.host->routes[exchange.action->route];
  names.route = full_name(program::name_space_of(section, route), section.string(route.name));
  if (exchange.pool == nullptr) return names;
  // The pool may be a later program's by now, and its record with it.
  const std::uint32_t index = program.backend_index(exchange.pool->state().id());
  if (index == program::kNone) return names;
  const program::BackendRecord& backend = program.backends()[index];
  const program::SectionView& backends = program.backends_section();
  names.backend = full_name(backends.string(backend.name_space), backends.string(backend.name));
  return names;
}

}  // namespace

// `exchange.began` to the loop's time is how long it took. Listener, host and pool are null where it did not come so
// far.
void Session::ended(const Exchange& exchange, const Ending& ending) {
  const net::Duration duration = worker_.loop().now() - exchange.began;
  worker_.tally().count(place_of(exchange), {ending.status, duration, ending.received, ending.sent},
                        [&] { return names_of(exchange); });
  if (exchange.notes != nullptr) log(exchange, ending);
  if (exchange.trace != nullptr) trace_ending(exchange, connection_, ending);
}

}  // namespace edge::runtime
