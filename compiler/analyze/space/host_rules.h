// The rules of one host section as sets of requests, and the rule that a request matches. Works on the tables only, so
// that it serves the compiler's proof and other programs alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/analyze/space/space.h"
#include "program/evaluate/evaluate.h"
#include "program/read.h"

namespace edge::compiler::analyze {

/// One match of one rule, at one place in the tables.
struct TableRule {
  program::Trace::PathClass path_class;
  std::string path = {};                     ///< kExact; kPrefix: without trailing slash, `/` is ""
  std::uint32_t predicate = program::kNone;  ///< index of its NodeRecord, kNone: always
  std::uint32_t action = program::kNone;     ///< index of its ActionRecord
  /// Identifies the rule by its place and conditions: at one place no two rules have the same conditions.
  bool same_match(const TableRule& other) const {
    return path_class == other.path_class && path == other.path && predicate == other.predicate;
  }
};

class HostRules {
 public:
  /// Both must outlive this object.
  HostRules(Space& space, const program::Section& host) : space_(space), host_(host) {}

  /// Returns every rule, in the order in which one request may be tested against them: exact paths, patterns before
  /// prefixes, prefixes from the longest, other patterns, rules without a path.
  std::vector<TableRule> rules() const;

  /// Returns the requests that meet the rule's path and conditions, whichever rule takes them. Ignores the host.
  Set matches(const TableRule& rule);
  /// Returns the requests that meet one predicate; kNone: all.
  Set predicate(std::uint32_t node);

  /// Returns the rule that `request` matches in this section by the canonical interpreter; nullopt: none.
  std::optional<TableRule> taker(const program::RequestView& request, const program::RegexMatcher& regex) const;

 private:
  Set leaf(const program::NodeRecord& node);

  Space& space_;
  const program::Section& host_;
  std::unordered_map<std::uint32_t, Set> predicates_;
};

/// The destination of a request in a whole program.
struct Landing {
  std::uint32_t listener = program::kNone;  ///< index of the ListenerRecord; kNone: no listener takes the host
  const program::Section* host = nullptr;   ///< null: no rule matches
  TableRule rule = {};
};
Landing land(const program::ProgramView& program, std::uint32_t bind, const program::RequestView& request,
             const program::RegexMatcher& regex);

}  // namespace edge::compiler::analyze
