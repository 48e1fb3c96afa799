// Chooses the rule for a request: the hot half of program/evaluate.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "program/request.h"
#include "runtime/match/load.h"

namespace edge::runtime {

/// Working memory of one thread: slot values, regex scratch. Grows to what the loaded programs need, then stays.
class MatchScratch {
 public:
  MatchScratch();
  ~MatchScratch();
  MatchScratch(MatchScratch&&) noexcept;
  MatchScratch& operator=(MatchScratch&&) noexcept;

  /// Makes room for a program. Call once a thread before the first `decide` on it; allocates.
  Status prepare(const LoadedProgram& program);

 private:
  friend struct Decider;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The rule that won. Points into the program: keep it pinned while the result is in use.
struct Decision {
  const LoadedListener* listener;
  const LoadedHost* host;
  const program::ActionRecord* action;
  const program::RouteRecord* route;
  const program::TrafficRecord* traffic;
};

/// Chooses the route for one request head. Rules D1, D2, D5; listener isolation; fall-through to less specific hosts.
///
/// Never blocks or allocates. `bind` is the index of the BindRecord that the connection came in on. `scratch` belongs
/// to the calling thread.
/// \returns nullopt when nothing matches; the caller answers 404.
std::optional<Decision> decide(const LoadedProgram& program, std::uint32_t bind, const program::RequestView& request,
                               MatchScratch& scratch);

/// The listener that a host name belongs to on a bind, null for none. To tell 421 from 404.
const LoadedListener* find_listener(const LoadedProgram& program, std::uint32_t bind, std::string_view host);

}  // namespace edge::runtime
