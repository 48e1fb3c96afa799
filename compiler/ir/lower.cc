#include "compiler/ir/lower.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "compiler/ir/node_set.h"
#include "compiler/ir/prepared.h"
#include "program/claim_field.h"

namespace edge::compiler::ir {
namespace {

using expr::Expression;
using program::Op;

/// Compares `namespace/name` as one text, without building it.
int compare_names(const Identity& a, const Identity& b) {
  const auto at = [](const Identity& id, std::size_t i) -> int {
    if (i < id.name_space.size()) return static_cast<unsigned char>(id.name_space[i]);
    if (i == id.name_space.size()) return '/';
    i -= id.name_space.size() + 1;
    return i < id.name.size() ? static_cast<unsigned char>(id.name[i]) : -1;
  };
  for (std::size_t i = 0;; ++i) {
    const int difference = at(a, i) - at(b, i);
    if (difference != 0) return difference;
    if (at(a, i) < 0) return 0;
  }
}

/// The keys that belong to the route (D1): older first, then `namespace/name`.
bool route_before(const Identity& a, const Identity& b) {
  if (a.created != b.created) return a.created < b.created;
  const int names = compare_names(a, b);
  return names != 0 ? names < 0 : a.kind < b.kind;
}

/// The API that a route's rules come from: each has its own order of precedence (decision 81).
enum class Api : std::uint8_t { kProxy, kGatewayApi, kIngress };
constexpr std::size_t kApis = 3;

Api api_of(const Identity& route) {
  if (route.kind == "ProxyRoute") return Api::kProxy;
  return route.kind == "Ingress" ? Api::kIngress : Api::kGatewayApi;
}

/// The keys that belong to the match, less its place: by D1 more headers, method given, more query keys; Gateway API
/// and Ingress have the method first. Of two expressions of Ingresses the longer one goes first (decision 116).
bool match_before(Api api, const RuleMatch& a, const RuleMatch& b) {
  if (api == Api::kIngress && a.path.type == PathMatch::Type::kRegex) {
    const auto length = [](const RuleMatch& match) { return match.path.value.value.size(); };
    if (length(a) != length(b)) return length(a) > length(b);
  }
  const bool method_first = api != Api::kProxy;
  if (method_first && a.method.has_value() != b.method.has_value()) return a.method.has_value();
  if (a.headers.size() != b.headers.size()) return a.headers.size() > b.headers.size();
  if (a.method.has_value() != b.method.has_value()) return a.method.has_value();
  return a.query.size() > b.query.size();
}

/// Turns conditions into predicate nodes. Slots and patterns are numbered in the order of their first use; opt::number
/// assigns the final numbers.
class Predicates {
 public:
  Predicates(const LinkedListener& listener, Host& host) : listener_(listener), host_(host) {}

  std::uint32_t match(const RuleMatch& match, const std::vector<PreparedPattern>* patterns, std::uint32_t expression) {
    std::vector<std::uint32_t> all;
    std::size_t used = 0;
    if (match.method) all.push_back(equals(program::kSlotMethod, match.method->value));
    // The patterns are in the order path, headers, query keys.
    const std::size_t on_path = match.path.type == PathMatch::Type::kRegex ? used++ : 0;
    for (const FieldMatch& header : match.headers) {
      all.push_back(field(program::SlotKind::kHeader, header, patterns, used));
    }
    for (const FieldMatch& query : match.query) {
      all.push_back(field(program::SlotKind::kQuery, query, patterns, used));
    }
    if (match.path.type == PathMatch::Type::kRegex && !(*patterns)[on_path].always) {
      all.push_back(regex(program::kSlotPath, (*patterns)[on_path].pattern));
    }
    if (expression != kAlways) all.push_back(expression);
    if (all.empty()) return kAlways;
    return all.size() == 1 ? all.front() : join(Op::kAnd, std::move(all));
  }

  std::uint32_t expression(const Expression& tree) {
    switch (tree.kind) {
      case Expression::Kind::kAnd:
      case Expression::Kind::kOr:
      case Expression::Kind::kNot:
        break;
      case Expression::Kind::kHeader:
        return equals(slot(program::SlotKind::kHeader, tree.name), tree.value);
      case Expression::Kind::kQuery:
        return equals(slot(program::SlotKind::kQuery, tree.name), tree.value);
      case Expression::Kind::kClaim:
        return equals(slot(program::SlotKind::kHeader, program::claim_field(tree.name)), tree.value);
      case Expression::Kind::kClaimContains:
        return text_node(Op::kPresent,
                         slot(program::SlotKind::kHeader, program::claim_item_field(tree.name, tree.value)), {});
      case Expression::Kind::kMethod:
        return equals(program::kSlotMethod, tree.value);
      case Expression::Kind::kPathExact:
        return text_node(Op::kEquals, program::kSlotPath, tree.value);
      case Expression::Kind::kPathPrefix:
        return text_node(Op::kPathPrefix, program::kSlotPath, tree.value);
      case Expression::Kind::kPathContains:
        return text_node(Op::kContains, program::kSlotPath, tree.value);
      case Expression::Kind::kFact:  // no expression of a route has one; were there one, it would match nothing
        return nodes_.add(false_node());
      case Expression::Kind::kSourceIn: {
        Node node{};
        node.op = Op::kSourceIn;
        node.cidr = tree.cidr;
        return nodes_.add(std::move(node));
      }
    }
    std::vector<std::uint32_t> operands;
    for (const Expression& operand : tree.operands) operands.push_back(expression(operand));
    if (tree.kind == Expression::Kind::kNot) return join(Op::kNot, std::move(operands));
    return join(tree.kind == Expression::Kind::kAnd ? Op::kAnd : Op::kOr, std::move(operands));
  }

  void finish() { host_.nodes = nodes_.take(); }

 private:
  std::uint32_t field(program::SlotKind kind, const FieldMatch& match, const std::vector<PreparedPattern>* patterns,
                      std::size_t& used) {
    const std::uint32_t number = slot(kind, match.name.value);
    switch (match.type) {
      case MatchType::kExact:
        return equals(number, match.value.value);
      case MatchType::kRegex: {
        const PreparedPattern& pattern = (*patterns)[used++];
        if (!pattern.always) return regex(number, pattern.pattern);
        break;
      }
      case MatchType::kPresent:
        break;
    }
    return text_node(Op::kPresent, number, {});
  }

  std::uint32_t equals(std::uint32_t slot_number, const std::string& value) {
    return text_node(Op::kEquals, slot_number, value);
  }

  std::uint32_t text_node(Op op, std::uint32_t slot_number, std::string text) {
    Node node{};
    node.op = op;
    node.slot = slot_number;
    node.text = std::move(text);
    return nodes_.add(std::move(node));
  }

  std::uint32_t join(Op op, std::vector<std::uint32_t> operands) {
    Node node{};
    node.op = op;
    node.operands = std::move(operands);
    return nodes_.add(std::move(node));
  }

  std::uint32_t slot(program::SlotKind kind, const std::string& name) {
    const bool may_be_claimed = kind == program::SlotKind::kHeader && !listener_.claimed_headers.empty();
    return slot_of(kind, may_be_claimed ? matched_field(listener_, name) : name);
  }

  std::uint32_t slot_of(program::SlotKind kind, const std::string& name) {
    const std::string key = static_cast<char>(kind) + name;
    const auto [entry, fresh] = slots_.emplace(key, program::kFirstHostSlot + host_.slots.size());
    if (fresh) host_.slots.push_back({kind, name});
    return entry->second;
  }

  std::uint32_t regex(std::uint32_t slot_number, const std::string& pattern) {
    const std::string key = std::to_string(slot_number) + ' ' + pattern;
    const auto [entry, fresh] = regexes_.emplace(key, host_.regexes.size());
    if (fresh) host_.regexes.push_back({pattern, slot_number});
    Node node{};
    node.op = Op::kRegex;
    node.slot = slot_number;
    node.regex = entry->second;
    return nodes_.add(std::move(node));
  }

  const LinkedListener& listener_;
  Host& host_;
  NodeSet nodes_;
  std::unordered_map<std::string, std::uint32_t> slots_;
  std::unordered_map<std::string, std::uint32_t> regexes_;
};

/// Position of a host's matches, in the order in which they are tried.
enum class PathTier : std::uint8_t { kExact, kEarlyRegex, kPrefix, kRegex, kAny };

/// Patterns of HTTPRoutes and Ingresses come before prefixes. Those of a GRPCRoute do not: one that names the method of
/// a call alone has no characters of the service, and so comes behind the rules that name it.
PathTier tier_of(const Identity& route, const PathMatch& path) {
  switch (path.type) {
    case PathMatch::Type::kExact:
      return PathTier::kExact;
    case PathMatch::Type::kPrefix:
      return PathTier::kPrefix;
    case PathMatch::Type::kRegex:
      return route.kind == "HTTPRoute" || route.kind == "Ingress" ? PathTier::kEarlyRegex : PathTier::kRegex;
    case PathMatch::Type::kNone:
      break;
  }
  return PathTier::kAny;
}

/// A match with its group.
struct Entry {
  const RuleMatch* match;
  PathTier tier;
  std::string_view path;  ///< prefix: without trailing slash
  Api api;
  Candidate candidate;
};

/// The entries of one group, the oldest route first: the rules of each API stand together, that of the oldest route
/// first, and have its order.
void order_group(std::span<Entry> group) {
  if (group.size() < 2) return;
  std::array<std::size_t, kApis> rank;
  rank.fill(kApis);
  std::size_t apis = 0;
  for (const Entry& entry : group) {
    std::size_t& own = rank[static_cast<std::size_t>(entry.api)];
    if (own == kApis) own = apis++;
  }
  std::stable_sort(group.begin(), group.end(), [&rank](const Entry& a, const Entry& b) {
    if (a.api != b.api) return rank[static_cast<std::size_t>(a.api)] < rank[static_cast<std::size_t>(b.api)];
    return match_before(a.api, *a.match, *b.match);
  });
}

/// All matches of one host in their order: by place and path, then the rest of the key.
std::vector<Entry> ordered_entries(const LinkedConfig& config, const std::vector<std::uint32_t>& routes) {
  std::vector<Entry> entries;
  for (const std::uint32_t index : routes) {
    const LinkedRoute& route = config.routes[index];
    const Api api = api_of(route.identity);
    for (std::size_t r = 0; r < route.rules.size(); ++r) {
      const std::vector<RuleMatch>& matches = route.rules[r].matches;
      for (std::size_t m = 0; m < matches.size(); ++m) {
        std::string_view path;
        if (matches[m].path.type != PathMatch::Type::kRegex) path = matches[m].path.value.value;
        if (matches[m].path.type == PathMatch::Type::kPrefix && path == "/") path = {};
        entries.push_back({&matches[m],
                           tier_of(route.identity, matches[m].path),
                           path,
                           api,
                           {kAlways, index, static_cast<std::uint16_t>(r), static_cast<std::uint16_t>(m)}});
      }
    }
  }
  // `routes` came oldest first, so stable sorts leave the last keys as they are.
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.tier != b.tier ? a.tier < b.tier : a.path < b.path; });
  for (auto group = entries.begin(); group != entries.end();) {
    const auto end = std::find_if(group, entries.end(), [&group](const Entry& entry) {
      return entry.tier != group->tier || entry.path != group->path;
    });
    order_group({group, end});
    group = end;
  }
  return entries;
}

}  // namespace

Host lower_host(const LinkedConfig& config, const PreparedRoutes& prepared, const HostKey& key,
                const std::vector<std::uint32_t>& routes) {
  Host host;
  host.id = host_id(config, key.listener, key.pattern);
  host.listener = key.listener;
  host.pattern = key.pattern;

  std::vector<std::uint32_t> usable;
  for (const std::uint32_t route : routes) {
    if (prepared.usable(route)) usable.push_back(route);
  }
  std::sort(usable.begin(), usable.end(), [&config](std::uint32_t a, std::uint32_t b) {
    return route_before(config.routes[a].identity, config.routes[b].identity);
  });

  Predicates predicates(config.listeners[key.listener], host);
  std::unordered_map<std::uint32_t, std::uint32_t> expressions;  // route -> node
  for (Entry& entry : ordered_entries(config, usable)) {
    const PreparedParts* const parts = prepared.impl_->routes[entry.candidate.route].parts.get();
    std::uint32_t expression = kAlways;
    const std::vector<PreparedPattern>* patterns = nullptr;
    if (parts != nullptr) {
      if (parts->expression && !config.routes[entry.candidate.route].rules[entry.candidate.rule].implied) {
        const auto [known, fresh] = expressions.emplace(entry.candidate.route, kAlways);
        if (fresh) known->second = predicates.expression(*parts->expression);
        expression = known->second;
      }
      const auto found = parts->patterns.find(entry.candidate.rule << 16 | entry.candidate.match);
      if (found != parts->patterns.end()) patterns = &found->second;
    }
    entry.candidate.predicate = predicates.match(*entry.match, patterns, expression);
    switch (entry.tier) {
      case PathTier::kExact:  // entries come in the order of the map
        host.exact.emplace_hint(host.exact.end(), entry.path, Group{})->second.push_back(entry.candidate);
        break;
      case PathTier::kEarlyRegex:
        host.early_regex.push_back(entry.candidate);
        break;
      case PathTier::kPrefix:
        host.prefix.emplace_hint(host.prefix.end(), entry.path, Group{})->second.push_back(entry.candidate);
        break;
      case PathTier::kRegex:
        host.regex.push_back(entry.candidate);
        break;
      case PathTier::kAny:
        host.any.push_back(entry.candidate);
        break;
    }
  }
  predicates.finish();
  return host;
}

}  // namespace edge::compiler::ir
