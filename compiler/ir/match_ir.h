// MatchIr: what a program's tables will say, before bytes. One Host a listener and host pattern; the order
// of the rules is resolved into the order of lists here.
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

/// One node of a predicate. Operands are indices of nodes of the same Host, smaller than the node's own.
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

/// One match of one rule, in the place that the order of rules gives it.
struct Candidate {
  std::uint32_t predicate = kAlways;  ///< index into Host::nodes
  /// Where it came from, for actions, diagnostics and proofs.
  std::uint32_t route = 0;  ///< index into LinkedConfig::routes
  std::uint16_t rule = 0;
  std::uint16_t match = 0;
};

/// In order (D1; decision 81): the first that holds wins. Candidates after an unconditional one are kept out by `opt`
/// and listed in Host::shadowed.
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

/// A candidate that can never win, with the one that hides it. Their predicates are not kept.
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
  Group early_regex;  ///< those that come before every prefix: of HTTPRoutes and Ingresses (decision 81)
  Group regex;        ///< those that come behind
  Group any;

  std::vector<Node> nodes;
  std::vector<Slot> slots;     ///< slot number = kFirstHostSlot + index; sorted by (kind, name)
  std::vector<Regex> regexes;  ///< the path's first, in the order of their rules; then the others', by slot
  std::vector<Shadowed> shadowed;
  std::vector<Candidate> impossible;  ///< whose conditions exclude each other; their predicates are not kept
};

/// Calls `visit(group, path)` for each group of a Host, in the order of groups. `path` is null for patterns and `any`.
template <typename AnyHost, typename Visit>
void for_each_group(AnyHost& host, Visit visit) {
  for (auto& [path, group] : host.exact) visit(group, &path);
  visit(host.early_regex, static_cast<const std::string*>(nullptr));
  for (auto& [path, group] : host.prefix) visit(group, &path);
  visit(host.regex, static_cast<const std::string*>(nullptr));
  visit(host.any, static_cast<const std::string*>(nullptr));
}

/// id of the host section of `pattern` on a listener: stable over edits of anything else.
std::uint64_t host_id(const LinkedConfig& config, std::uint32_t listener, const HostPattern& pattern);

/// A host pattern of a listener and the routes that serve it there (indices, ascending).
struct HostKey {
  std::uint32_t listener = 0;
  HostPattern pattern;
  friend bool operator==(const HostKey&, const HostKey&) = default;
  /// By listener, then by specificity.
  friend bool operator<(const HostKey& a, const HostKey& b);
};
using HostRoutes = std::map<HostKey, std::vector<std::uint32_t>>;

}  // namespace edge::compiler::ir
