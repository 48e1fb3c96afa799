// The semantics of a program, as an interpreter: looks a request up in the tables and evaluates the predicates. The
// canonical engine: the compiler proves native code and regex databases against it, `explain` traces it, tests compare
// it with an independent reference. The runtime's `decide` (runtime/match) is the fast form of the same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/evaluate/abi.h"
#include "program/read.h"
#include "program/request.h"

namespace edge::program {

/// Returns whether `pattern` is found in `subject`. Called for each pattern of a host whose subject is present.
using RegexMatcher = std::function<bool(std::string_view pattern, std::string_view subject)>;

/// The result for a request. Indices point into the host section `host`.
struct Evaluation {
  std::uint32_t listener = kNone;  ///< index of the ListenerRecord; kNone: no listener takes this host
  const Section* host = nullptr;   ///< null: no rule matched
  std::uint32_t action = kNone;
  std::uint32_t group = kNone;      ///< kNone when the action is directly on a path
  std::uint32_t candidate = kNone;  ///< index within the group
};

/// Observes an evaluation; every step is reported in order. For `explain`.
class Trace {
 public:
  /// In the order of matching. Patterns of Gateway API and Ingress are kEarlyRegex.
  enum class PathClass { kExact, kEarlyRegex, kPrefix, kRegex, kAny };

  virtual ~Trace() = default;
  virtual void listener(std::uint32_t /*listener*/) {}
  virtual void host(const Section& /*host*/) {}
  /// A target was reached; `path` is the table's key, empty for patterns and kAny.
  virtual void path(PathClass /*path_class*/, std::string_view /*path*/) {}
  /// A candidate was tested: an index into the host's candidates, kNone when the action is directly on a path. `failed`
  /// is the first node that failed, kNone when it won.
  virtual void candidate(const Section& /*host*/, std::uint32_t /*candidate*/, std::uint32_t /*action*/,
                         std::uint32_t /*failed*/) {}
};

/// The slot values of one request for one host. Views of `request`, which must outlive it, or owned.
///
/// A header's value is that of all its fields, joined with ", ". A query key's value is that of its first pair: pairs
/// are split at `&`, name and value at the first `=` (none: the value is empty), both are percent-decoded with `+` as a
/// space; a `%` without two hex digits is literal.
class SlotValues {
 public:
  SlotValues(const Section& host, const RequestView& request, const RegexMatcher& regex);
  SlotValues(const SlotValues&) = delete;
  SlotValues& operator=(const SlotValues&) = delete;
  const MatchInput& input() const { return input_; }

 private:
  std::vector<std::string> storage_;  ///< one per slot of the host, used where a value is not a view
  std::vector<SlotValue> values_;
  std::vector<std::uint64_t> hits_;
  IpAddress source_;
  MatchInput input_{};
};

/// Returns the listener of `bind` (an index into the listeners section's binds) with the most specific name for `host`;
/// kNone: none. Rule D2.
std::uint32_t listener_of(const ProgramView& program, std::uint32_t bind, std::string_view host);

/// Rules D1, D2, the choice of rule in D3 (not of backend), D5. `bind` is an index into the listeners section's binds.
/// Allocates; for tools and proofs. `trace` may be null.
Evaluation evaluate(const ProgramView& program, std::uint32_t bind, const RequestView& request,
                    const RegexMatcher& regex, Trace* trace = nullptr);

/// The part of `evaluate` within one host section: no listener, no fall-through. For the proof of that host.
Evaluation evaluate_host(const Section& host, const RequestView& request, const RegexMatcher& regex,
                         Trace* trace = nullptr);

/// Evaluates one predicate. kNone is true. Recursive, at most kMaxPredicateDepth deep; no allocation: the runtime uses
/// it where a program has no native code for its CPU. `failed`, when not null, gets the first node that made the result
/// false.
bool holds(const SectionView& host, std::uint32_t node, const MatchInput& input, std::uint32_t* failed = nullptr);

/// Evaluates a group like a GroupFunction.
std::uint32_t decide_group(const SectionView& host, const GroupRecord& group, const MatchInput& input);

}  // namespace edge::program
