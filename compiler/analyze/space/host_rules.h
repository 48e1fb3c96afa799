// The rules of one host section of a program as sets of requests, and who takes a request there. Works on the tables
// alone, so that it serves the compiler's own proof and programs from elsewhere alike.
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

/// One match of one rule, at one place of the tables.
struct TableRule {
  program::Trace::PathClass path_class;
  std::string path = {};                     ///< kExact; kPrefix: without trailing slash, `/` is ""
  std::uint32_t predicate = program::kNone;  ///< index of its NodeRecord, kNone: always
  std::uint32_t action = program::kNone;     ///< index of its ActionRecord
  /// The same rule by its place and conditions: in one place no two rules have the same conditions.
  bool same_match(const TableRule& other) const {
    return path_class == other.path_class && path == other.path && predicate == other.predicate;
  }
};

class HostRules {
 public:
  /// Both must outlive this object.
  HostRules(Space& space, const program::Section& host) : space_(space), host_(host) {}

  /// Every rule, in the order of the rules as far as one request can meet two of them: exact paths, patterns that come
  /// before prefixes, prefixes from the longest on, the other patterns, rules without a path.
  std::vector<TableRule> rules() const;

  /// The requests that fulfil the rule's path and conditions, whoever takes them. Says nothing about the host.
  Set matches(const TableRule& rule);
  /// The requests that fulfil one predicate; kNone: all.
  Set predicate(std::uint32_t node);

  /// Which rule takes `request` in this section by the canonical interpreter; nullopt: none.
  std::optional<TableRule> taker(const program::RequestView& request, const program::RegexMatcher& regex) const;

 private:
  Set leaf(const program::NodeRecord& node);

  Space& space_;
  const program::Section& host_;
  std::unordered_map<std::uint32_t, Set> predicates_;
};

/// Where a request ends in a whole program.
struct Landing {
  std::uint32_t listener = program::kNone;  ///< index of the ListenerRecord; kNone: none takes the host
  const program::Section* host = nullptr;   ///< null: no rule takes it
  TableRule rule = {};
};
Landing land(const program::ProgramView& program, std::uint32_t bind, const program::RequestView& request,
             const program::RegexMatcher& regex);

}  // namespace edge::compiler::analyze
