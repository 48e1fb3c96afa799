// Exact sets of requests: conditions on host, path, method, headers, query keys and source address, combined by AND, OR
// and NOT. Determines whether a set is empty, and returns a request of it if not. Shadow reports, `assert` and `diff`
// need such queries: "the requests of this rule, except those that earlier rules take".
//
// The search decides conditions one by one (as DPLL does) and checks each value of the request against the decisions
// about it: texts by automata, addresses by intervals, hosts by the algebra of their patterns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hostname.h"
#include "base/ip.h"
#include "compiler/analyze/space/effort.h"
#include "compiler/analyze/space/witness.h"

namespace edge::compiler::analyze {

/// A set of requests: an index into its Space.
enum class Set : std::uint32_t {};

/// The part of a request that a condition tests.
struct Subject {
  enum class Kind : std::uint8_t { kMethod, kPath, kHeader, kQuery };
  Kind kind;
  std::string name = {};  ///< kHeader: lower case; kQuery: the key
};

enum class Test : std::uint8_t {
  kPresent,
  kEquals,
  kBelow,     ///< path prefix by whole segments, without trailing slash; empty: every path that begins with `/`
  kContains,  ///< somewhere in the value
  kMatches,   ///< a pattern of compiler/expr is found in it. Sets with an unreadable pattern are not decided
};

struct Finding {
  enum class State : std::uint8_t {
    kFound,       ///< `request` is in the set
    kNone,        ///< proved: the set is empty
    kNotDecided,  ///< the limit was reached, or the result cannot be verified; `reason` says which
  };
  State state = State::kNotDecided;
  std::optional<Witness> request = std::nullopt;
  std::string reason = {};
};

/// Not thread-safe. Caches automata and results, so that later queries of similar sets cost less.
class Space {
 public:
  Space();
  ~Space();
  Space(Space&&) noexcept;
  Space& operator=(Space&&) noexcept;

  Set everything() const;
  Set nothing() const;
  /// Returns the hosts of a pattern (rule D2). A request without a host is only in HostPattern::any.
  Set host_in(const HostPattern& pattern);
  Set source_in(const Cidr& block);
  /// Returns requests whose value passes a test. An absent header or query key fails every test.
  Set where(const Subject& subject, Test test, const std::string& operand = {});

  Set all_of(std::vector<Set> sets);
  Set any_of(std::vector<Set> sets);
  Set complement(Set set);
  Set minus(Set set, Set other) { return all_of({set, complement(other)}); }

  /// Returns a request of `set`; the caller sets its port. Equal queries to equal spaces give equal results.
  Finding find(Set set, Effort& effort);

  /// Excludes some of the requests that `find` would return; must include the given request. nullopt accepts it.
  using Refusal = std::function<std::optional<Set>(const Witness&)>;
  /// Returns a request of `set` that `refuse` accepts: where too many rules take requests to exclude them all in
  /// advance, the relevant ones are excluded one by one. kNone: the exclusions cover the set.
  Finding find(Set set, Effort& effort, const Refusal& refuse);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Steps that decide all but contrived queries; some milliseconds when all are used.
inline constexpr std::uint64_t kUsualEffort = 2'000'000;

}  // namespace edge::compiler::analyze
