// Decides whether a rule of a host section wins for any request at all, and if not, which rules take its requests.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/analyze/space/effort.h"
#include "compiler/analyze/space/host_rules.h"
#include "compiler/analyze/space/space.h"
#include "compiler/analyze/space/witness.h"
#include "program/evaluate/evaluate.h"
#include "program/read.h"

namespace edge::compiler::analyze {

/// A rule that takes requests of another, with an example.
struct Taken {
  TableRule taker;
  Witness request;
};

struct Reach {
  enum class State : std::uint8_t {
    kReached,     ///< `request` is an example
    kCovered,     ///< the rules in `taken` take all its requests; all of them are needed
    kImpossible,  ///< its conditions contradict each other
    kNowhere,     ///< no rule takes `request`, though this one should: the tables are wrong
    kNotDecided,  ///< `reason` says why
  };
  State state = State::kNotDecided;
  std::optional<Witness> request = std::nullopt;
  std::vector<Taken> taken = {};
  /// kCovered: `OPTIONS *`, which has no path, still reaches it.
  bool of_server = false;
  std::string reason = {};
};

class ReachSearch {
 public:
  /// `base` provides host and port of constructed requests. All must outlive this object.
  ReachSearch(const program::Section& host, const Witness& base, const program::RegexMatcher& regex)
      : base_(base), regex_(regex), rules_(space_, host) {}

  /// Exact over all requests with a path. Every returned request was decided by the interpreter.
  Reach decide(const TableRule& rule, Effort& effort);

  /// Returns a request of `set` that `accept` accepts. After a rejected one, others of the same rule are not tried.
  std::optional<Witness> request_of(Set set, Effort& effort, const std::function<bool(const Witness&)>& accept);

  HostRules& rules() { return rules_; }
  Space& space() { return space_; }

 private:
  Witness at_host(Witness request) const;
  std::optional<TableRule> taker(const Witness& request) const;
  void drop_needless(Set own, std::vector<Taken>& taken, Effort& effort);

  const Witness& base_;
  const program::RegexMatcher& regex_;
  Space space_;
  HostRules rules_;
};

}  // namespace edge::compiler::analyze
