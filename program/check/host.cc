#include <algorithm>
#include <bit>
#include <vector>

#include "program/check/checker.h"
#include "program/evaluate/abi.h"
#include "program/evaluate/path_table.h"
#include "program/filter_table.h"
#include "program/mirror_share.h"

namespace edge::program {
namespace {

// ---- Host: paths, groups, predicates --------------------------------------------------------------------------------

bool target_sound(const HostHeader& host, Target32 target) {
  if (target == kNone) return true;
  if ((target & kActionBit) != 0) return (target & ~kActionBit) < host.actions.count;
  return target < host.groups.count;
}

/// A free record, or a path whose text lies in the record or elsewhere in the section.
bool path_sound(const Checker& check, const HostHeader& host, const PathRecord& path) {
  const std::uint32_t size = path.key & 0xff;
  if (size == kFarPath ? !check.text(far_path(path)) : size > path_room(host.path_stride)) return false;
  if (size == 0) return path.key == kNoPath && path.exact == kNone && path.prefix == kNone;
  return target_sound(host, path.exact) && target_sound(host, path.prefix);
}

bool check_path_records(Checker& check, const HostHeader& host) {
  if (host.paths.count == 0) return check.require(host.path_stride == 0 && host.max_probe == 0, "paths");
  if (!check.require(host.path_stride >= kMinPathStride && host.path_stride <= kMaxPathStride &&
                         host.paths.count % host.path_stride == 0,
                     "paths") ||
      !check.require(host.max_probe == 1 || host.max_probe == halvings(host.paths.count / host.path_stride),
                     "max_probe") ||
      !check.require(std::has_single_bit(host.path_displacements.count), "path_displacements"))
    return false;
  const auto words = check.view().array(host.paths);
  bool sound = true;
  for (std::size_t at = 0; at < words.size(); at += host.path_stride)
    sound &= path_sound(check, host, *reinterpret_cast<const PathRecord*>(&words[at]));
  return check.require(sound, "paths");
}

bool check_paths(Checker& check, const HostHeader& host) {
  return check.array(host.path_displacements, "path_displacements") && check.array(host.paths, "paths") &&
         check_path_records(check, host) &&
         check.require(target_sound(host, host.root_prefix) && target_sound(host, host.early_regex) &&
                           target_sound(host, host.regex) && target_sound(host, host.any_path) && host.reserved == 0,
                       "paths");
}

/// Groups have candidates of their own, no more together than there are: what walks all groups stays linear.
bool check_groups(Checker& check, const HostHeader& host) {
  if (!check.array(host.groups, "groups") || !check.array(host.candidates, "candidates")) return false;
  bool sound = true;
  std::uint64_t used = 0;
  for (const GroupRecord& group : check.view().array(host.groups)) {
    sound &= group.first <= host.candidates.count && group.count <= host.candidates.count - group.first;
    used += group.count;
  }
  sound &= used <= host.candidates.count;
  if (!check.require(sound, "groups")) return false;
  for (const CandidateRecord& candidate : check.view().array(host.candidates))
    sound &= index_or_none(candidate.predicate, host.nodes.count) && candidate.action < host.actions.count;
  return check.require(sound, "candidates");
}

/// Properties of a checked node, both bounded, so that interpreting it is bounded.
struct NodeCost {
  std::uint32_t depth = 1;
  std::uint32_t cost = 1;
};

class NodeChecker {
 public:
  NodeChecker(const Checker& check, const HostHeader& host)
      : check_(check), host_(host), operands_(check.view().array(host.operands)) {
    costs_.reserve(host.nodes.count);
  }

  bool sound(const NodeRecord& node) {
    NodeCost cost;
    const bool ok = fields_sound(node, cost) && cost.depth <= kMaxPredicateDepth && cost.cost <= kMaxPredicateCost;
    costs_.push_back(cost);
    return ok;
  }
  bool all_operands_used() const { return used_ == operands_.size(); }

 private:
  bool fields_sound(const NodeRecord& node, NodeCost& cost) {
    switch (node.op) {
      case Op::kAnd:
      case Op::kOr:
        if (node.a != used_ || node.b > operands_.size() - used_) return false;
        used_ += node.b;
        return std::ranges::all_of(operands_.subspan(node.a, node.b),
                                   [&](std::uint32_t operand) { return add(operand, cost); });
      case Op::kNot:
        return add(node.a, cost);
      case Op::kPresent:
        return slot_sound(node);
      case Op::kPathPrefix:
        return node.slot == kSlotPath && check_.text({node.a, node.b});
      case Op::kEquals:
      case Op::kContains:
        return slot_sound(node) && check_.text({node.a, node.b});
      case Op::kSourceIn:
        return node.a < host_.cidrs.count;
      case Op::kRegex:
        return node.a < host_.regexes.count;
      case Op::kFalse:
        return true;
    }
    return false;
  }

  bool slot_sound(const NodeRecord& node) const { return node.slot < kFirstHostSlot + host_.slots.count; }

  bool add(std::uint32_t operand, NodeCost& cost) const {
    if (operand >= costs_.size()) return false;
    cost.depth = std::max(cost.depth, costs_[operand].depth + 1);
    cost.cost += costs_[operand].cost;
    return cost.cost <= kMaxPredicateCost;
  }

  const Checker& check_;
  const HostHeader& host_;
  std::span<const std::uint32_t> operands_;
  std::size_t used_ = 0;
  std::vector<NodeCost> costs_;
};

bool check_predicates(Checker& check, const HostHeader& host) {
  if (!check.array(host.nodes, "nodes") || !check.array(host.operands, "operands") ||
      !check.array(host.slots, "slots") || !check_cidrs(check, host.cidrs, "cidrs"))
    return false;
  bool sound = true;
  for (const SlotRecord& slot : check.view().array(host.slots))
    sound &= (slot.kind == SlotKind::kHeader || slot.kind == SlotKind::kQuery) && check.text(slot.name);
  if (!check.require(sound, "slots")) return false;

  NodeChecker nodes(check, host);
  std::size_t index = 0;
  for (const NodeRecord& node : check.view().array(host.nodes))
    if (!check.require(nodes.sound(node), "nodes", index++)) return false;
  return check.require(nodes.all_operands_used(), "operands");
}

bool check_regexes(Checker& check, const HostHeader& host) {
  if (!check.array(host.regexes, "regexes") || !check.array(host.regex_sets, "regex_sets")) return false;
  const auto regexes = check.view().array(host.regexes);
  bool sound = true;
  for (const RegexRecord& regex : regexes) sound &= check.text(regex.pattern);
  if (!check.require(sound, "regexes")) return false;

  std::size_t next = 0;
  for (const RegexSetRecord& set : check.view().array(host.regex_sets)) {
    const bool is_subject = set.slot == kSlotPath || set.slot >= kFirstHostSlot;
    if (!check.require(set.first == next && set.count > 0 && set.count <= regexes.size() - next && is_subject &&
                           set.slot < kFirstHostSlot + host.slots.count,
                       "regex_sets"))
      return false;
    for (const RegexRecord& regex : regexes.subspan(set.first, set.count)) sound &= regex.slot == set.slot;
    next += set.count;
  }
  // A pattern outside every set would never be searched for.
  return check.require(sound && next == regexes.size(), "regex_sets");
}

// ---- Host: what happens to a request -------------------------------------------------------------------------------

bool filter_sound(const Checker& check, const FilterRecord& filter) {
  if (!is_filter_op(filter.op)) return false;
  const std::uint32_t status = redirect_status(filter);
  if (filter.op == FilterOp::kRedirect && (status < 300 || status > 399)) return false;
  return check.text(filter.name) && check.text(filter.value);
}

/// One of a host's traffics for each backend, or none at all.
bool treatments_sound(const Checker& check, const HostHeader& host, const SplitRecord& split) {
  if (split.treatments.count == 0) return true;
  if (!within(split.treatments, host.split_treatments) || split.treatments.count != split.backends.count) return false;
  return std::ranges::all_of(check.view().array(split.treatments),
                             [&](std::uint32_t treatment) { return treatment < host.treatments.count; });
}

/// Each split has its own run of backends: `used` sums them, so that the check stays linear.
bool split_sound(const Checker& check, const HostHeader& host, const SplitRecord& split, std::uint64_t& used) {
  if (!within(split.backends, host.backend_refs) || (split.canary >= split.backends.count && split.canary != kNone))
    return false;
  used += split.backends.count;
  if (used > host.backend_refs.count || !treatments_sound(check, host, split)) return false;
  std::uint64_t weight = 0;
  for (const BackendRefRecord& backend : check.view().array(split.backends)) weight += backend.weight;
  return weight == split.total_weight;
}

bool treatment_sound(const HostHeader& host, const TreatmentRecord& treatment) {
  return within(treatment.filters, host.filters) && within(treatment.policies, host.policy_refs) &&
         within(treatment.mirrors, host.mirrors);
}

bool action_sound(const HostHeader& host, const ActionRecord& action) {
  if (action.route >= host.routes.count || action.treatment >= host.treatments.count) return false;
  if (action.split == kNone) return true;
  if ((action.split & kSingleBackendBit) != 0) return (action.split & ~kSingleBackendBit) < host.backend_refs.count;
  return action.split < host.splits.count;
}

/// `host.filters` must be sound.
bool mirror_sound(const Checker& check, const HostHeader& host, const MirrorRecord& mirror) {
  const bool fraction = (mirror.share & kMirrorFractionBit) != 0;
  if (mirror.details > host.filters.count || (fraction && mirror.details == 0)) return false;
  if (mirror.details != 0 && check.view().array(host.filters)[mirror.details - 1].op != FilterOp::kRewriteHost) {
    return false;
  }
  const MirrorShare share = share_of(check.view(), mirror);
  return share.numerator >= 1 && share.numerator <= share.denominator;
}

bool check_treatments(Checker& check, const HostHeader& host) {
  if (!check.array(host.treatments, "traffics") || !check.array(host.splits, "splits") ||
      !check.array(host.backend_refs, "backend_refs") || !check.array(host.split_treatments, "split_treatments") ||
      !check.array(host.filters, "filters") || !check.array(host.policy_refs, "policy_refs") ||
      !check.array(host.mirrors, "mirrors"))
    return false;
  std::size_t index = 0;
  for (const FilterRecord& filter : check.view().array(host.filters))
    if (!check.require(filter_sound(check, filter), "filters", index++)) return false;
  index = 0;
  for (const TreatmentRecord& treatment : check.view().array(host.treatments))
    if (!check.require(treatment_sound(host, treatment), "traffics", index++)) return false;
  bool sound = true;
  for (const MirrorRecord& mirror : check.view().array(host.mirrors)) sound &= mirror_sound(check, host, mirror);
  if (!check.require(sound, "mirrors")) return false;
  std::uint64_t used = 0;
  index = 0;
  for (const SplitRecord& split : check.view().array(host.splits))
    if (!check.require(split_sound(check, host, split, used), "splits", index++)) return false;
  return true;
}

bool check_actions(Checker& check, const HostHeader& host) {
  if (!check.array(host.actions, "actions") || !check.array(host.routes, "routes") ||
      !check.array(host.namespaces, "namespaces"))
    return false;
  bool sound = true;
  for (const ActionRecord& action : check.view().array(host.actions)) sound &= action_sound(host, action);
  if (!check.require(sound, "actions")) return false;
  for (const RouteRecord& route : check.view().array(host.routes))
    sound &= check.text(route.name) && route.name_space < host.namespaces.count;
  for (const StringRef& name_space : check.view().array(host.namespaces)) sound &= check.text(name_space);
  return check.require(sound, "routes");
}

}  // namespace

void check_host(Checker& check) {
  if (!check.require(check.view().bytes().size() >= sizeof(HostHeader), "header")) return;
  const auto& host = check.view().header<HostHeader>();
  (void)(check.require(host.host_id == check.id(), "host_id") && check.require(check.text(host.pattern), "pattern") &&
         check_paths(check, host) && check_groups(check, host) && check_predicates(check, host) &&
         check_regexes(check, host) && check_treatments(check, host) && check_actions(check, host));
}

}  // namespace edge::program
