// Sets of requests, exactly: what conditions say about host, path, method, headers, query keys and source address,
// joined by AND, OR and NOT. Answers whether a set is empty, and gives a request of it when it is not. What shadow
// reports, `assert` and `diff` ask is of this form: "the requests of this rule, less those that earlier rules take".
//
// The search decides conditions one by one (as DPLL does) and holds each value of the request against what was decided
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

/// The part of a request that a condition looks at.
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
  kMatches,   ///< a pattern of compiler/expr is found in it. What asks for one that cannot be read is not decided
};

struct Finding {
  enum class State : std::uint8_t {
    kFound,       ///< `request` is in the set
    kNone,        ///< proved: the set is empty
    kNotDecided,  ///< the effort ended, or what was found cannot be vouched for; `reason` says which
  };
  State state = State::kNotDecided;
  std::optional<Witness> request = std::nullopt;
  std::string reason = {};
};

/// Not thread-safe. Keeps automata and what was learned of values, so that later questions about alike sets cost less.
class Space {
 public:
  Space();
  ~Space();
  Space(Space&&) noexcept;
  Space& operator=(Space&&) noexcept;

  Set everything() const;
  Set nothing() const;
  /// Hosts that the pattern accepts (rule D2). A request without a host belongs to HostPattern::any alone.
  Set host_in(const HostPattern& pattern);
  Set source_in(const Cidr& block);
  /// An absent header or query key fails every test.
  Set where(const Subject& subject, Test test, const std::string& operand = {});

  Set all_of(std::vector<Set> sets);
  Set any_of(std::vector<Set> sets);
  Set complement(Set set);
  Set minus(Set set, Set other) { return all_of({set, complement(other)}); }

  /// A request of `set`; its port is left to the caller. Equal questions to equal spaces give equal answers.
  Finding find(Set set, Effort& effort);

  /// Leaves out some of the requests that `find` came upon; must contain the request that it was asked about. nullopt
  /// accepts the request.
  using Refusal = std::function<std::optional<Set>(const Witness&)>;
  /// A request of `set` that `refuse` accepts: where others take requests by rules too many to name them all, those
  /// that matter are named one by one. kNone: what was refused covers the set.
  Finding find(Set set, Effort& effort, const Refusal& refuse);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Steps that decide all but contrived questions; some milliseconds when all are used.
inline constexpr std::uint64_t kUsualEffort = 2'000'000;

}  // namespace edge::compiler::analyze
