// Chooses the rule for a request: the hot half of program/evaluate/evaluate.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "program/request.h"
#include "runtime/match/load.h"

namespace edge::runtime {

/// Room for the values of one request that are no views into its head: headers that came several times, joined, and
/// query values that were percent-decoded.
inline constexpr std::size_t kSlotStorageBytes = 128 * 1024;

/// Working memory of one thread: slot values, regex scratch. Grows to what the loaded programs need, then stays.
class MatchScratch {
 public:
  MatchScratch();
  ~MatchScratch();
  MatchScratch(MatchScratch&&) noexcept;
  MatchScratch& operator=(MatchScratch&&) noexcept;

  /// Makes room for a program. Call once a thread before the first `decide` on it; allocates.
  Status prepare(const LoadedProgram& program);

  /// Requests that were answered by no rule because they could not be decided: joined or decoded values over
  /// kSlotStorageBytes, a regex database that does not load, a program that `prepare` has not seen.
  std::uint64_t faults() const;

  struct Impl;  ///< scratch.h

 private:
  friend class Decider;
  std::unique_ptr<Impl> impl_;
};

/// The rule that won. Points into the program: keep it pinned while the result is in use.
struct Decision {
  const LoadedListener* listener;
  const LoadedHost* host;
  /// Asked for from memory, not waited for: the first to read it does.
  const program::ActionRecord* action;

  const program::RouteRecord& route() const { return host->routes[action->route]; }
  const program::TreatmentRecord& treatment() const { return host->treatments[action->treatment]; }
};

/// Chooses the route for one request head. Rules D1, D2, D5; listener isolation; fall-through to less specific hosts.
///
/// Never blocks, and never allocates but for the first search of a thread in a regex database. A request that cannot be
/// decided (MatchScratch::faults) matches nothing: it is refused, never sent along by half of its conditions.
/// `bind` is the index of the BindRecord that the connection came in on. `scratch` belongs
/// to the calling thread.
/// \returns nullopt when nothing matches; the caller answers 404.
std::optional<Decision> decide(const LoadedProgram& program, std::uint32_t bind, const program::RequestView& request,
                               MatchScratch& scratch);

/// The listener that a host name belongs to on a bind, null for none. To tell 421 from 404.
const LoadedListener* find_listener(const LoadedProgram& program, std::uint32_t bind, std::string_view host);

}  // namespace edge::runtime
