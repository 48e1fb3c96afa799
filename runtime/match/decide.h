// Chooses the rule for a request: the hot half of program/evaluate/evaluate.h.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "program/request.h"
#include "runtime/match/load.h"

namespace edge::runtime {

/// Bytes for the values of one request that are not views of its head: joined header values, and percent-decoded query
/// values.
inline constexpr std::size_t kSlotStorageBytes = 128 * 1024;

/// Working memory of one thread: slot values, regex scratch. Grows to what the loaded programs need, and is kept.
class MatchScratch {
 public:
  MatchScratch();
  ~MatchScratch();
  MatchScratch(MatchScratch&&) noexcept;
  MatchScratch& operator=(MatchScratch&&) noexcept;

  /// Allocates what a program needs. Called once per thread before the first `decide` on it.
  Status prepare(const LoadedProgram& program);

  /// Returns the number of requests that could not be matched: joined or decoded values over kSlotStorageBytes, a regex
  /// database that does not load, a program that `prepare` was not called for.
  std::uint64_t faults() const;

  struct Impl;  ///< scratch.h

 private:
  friend class Decider;
  std::unique_ptr<Impl> impl_;
};

/// The matching rule. Points into the program: pin it while the result is in use.
struct Decision {
  const LoadedListener* listener;
  const LoadedHost* host;
  /// Prefetched: the first read waits for it.
  const program::ActionRecord* action;

  const program::RouteRecord& route() const { return host->routes[action->route]; }
  const program::TreatmentRecord& treatment() const { return host->treatments[action->treatment]; }
};

/// Finds the rule for one request head. Rules D1, D2, D5; listener isolation; fall-through to less specific hosts.
///
/// Never blocks, and allocates only for a thread's first search in a regex database. A request that cannot be matched
/// (MatchScratch::faults) gets no rule: it is refused, never routed by part of its conditions. `bind` is the index of
/// the BindRecord that the connection came in on. `scratch` belongs to the calling thread.
/// \returns nullopt when nothing matches; the caller answers 404.
std::optional<Decision> decide(const LoadedProgram& program, std::uint32_t bind, const program::RequestView& request,
                               MatchScratch& scratch);

/// Returns the listener that a host name belongs to on a bind, null for none. Distinguishes 421 from 404.
const LoadedListener* find_listener(const LoadedProgram& program, std::uint32_t bind, std::string_view host);

}  // namespace edge::runtime
