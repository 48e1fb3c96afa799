// MatchIr: the contents of a program's tables, before they are bytes. One Host per listener and host pattern; the order
// of rules is the order of lists here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/hostname.h"
#include "base/ip.h"
#include "base/source.h"
#include "compiler/link/linked_config.h"
#include "program/evaluate/abi.h"
#include "program/format/format.h"

namespace edge::compiler::ir {

/// One node of a predicate. Operands are indices of nodes of the same Host, smaller than its own.
struct Node {
  program::Op op;
  std::uint32_t slot = 0;               ///< kPresent, kEquals, kPathPrefix, kContains
  std::string text;                     ///< kEquals, kPathPrefix, kContains
  Cidr cidr;                            ///< kSourceIn
  std::uint32_t regex = 0;              ///< kRegex: index into Host::regexes
  std::vector<std::uint32_t> operands;  ///< kAnd, kOr, kNot
  friend bool operator==(const Node&, const Node&) = default;
};

inline constexpr std::uint32_t kAlways = program::kNone;

/// One match of one rule, at its place in the order of rules.
struct Candidate {
  std::uint32_t predicate = kAlways;  ///< index into Host::nodes
  /// Its origin, for actions, diagnostics and proofs.
  std::uint32_t route = 0;  ///< index into LinkedConfig::routes
  std::uint16_t rule = 0;
  std::uint16_t match = 0;
};

/// In order (D1; decision 81): the first that holds wins. `opt` removes candidates after an unconditional one and lists
/// them in Host::shadowed.
using Group = std::vector<Candidate>;

struct Slot {
  program::SlotKind kind;
  std::string name;
  friend bool operator==(const Slot&, const Slot&) = default;
};

struct Regex {
  std::string pattern;  ///< as compiled: `$` made strict
  std::uint32_t slot;   ///< kSlotPath, or a header's or query key's slot
};

/// A candidate that can never win, with the one that shadows it. Predicates are not kept.
struct Shadowed {
  Candidate loser;
  Candidate winner;
};

struct Host {
  std::uint64_t id = 0;
  std::uint32_t listener = 0;  ///< index into LinkedConfig::listeners
  HostPattern pattern;

  std::map<std::string, Group> exact;   ///< by path
  std::map<std::string, Group> prefix;  ///< by path without trailing slash; `/` is the empty string
  Group early_regex;                    ///< those before every prefix: of HTTPRoutes and Ingresses (decision 81)
  Group regex;                          ///< those after the prefixes
  Group any;

  std::vector<Node> nodes;
  std::vector<Slot> slots;     ///< slot number = kFirstHostSlot + index; sorted by (kind, name)
  std::vector<Regex> regexes;  ///< the path's first, in rule order; then the others', by slot
  std::vector<Shadowed> shadowed;
  std::vector<Candidate> impossible;  ///< with contradictory conditions; predicates are not kept
};

/// Calls `visit(group, path)` for each group of a Host, in order. `path` is null for patterns and `any`.
template <typename AnyHost, typename Visit>
void for_each_group(AnyHost& host, Visit visit) {
  for (auto& [path, group] : host.exact) visit(group, &path);
  visit(host.early_regex, static_cast<const std::string*>(nullptr));
  for (auto& [path, group] : host.prefix) visit(group, &path);
  visit(host.regex, static_cast<const std::string*>(nullptr));
  visit(host.any, static_cast<const std::string*>(nullptr));
}

/// Returns the id of the host section of `pattern` on a listener: stable under other edits.
std::uint64_t host_id(const LinkedConfig& config, std::uint32_t listener, const HostPattern& pattern);

/// A host pattern of a listener; HostRoutes maps it to the routes that serve it (indices, ascending).
struct HostKey {
  std::uint32_t listener = 0;
  HostPattern pattern;
  friend bool operator==(const HostKey&, const HostKey&) = default;
  /// By listener, then by specificity.
  friend bool operator<(const HostKey& a, const HostKey& b);
};
using HostRoutes = std::map<HostKey, std::vector<std::uint32_t>>;

}  // namespace edge::compiler::ir
