#include "program/check_section.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "program/abi.h"
#include "program/lookup.h"
#include "program/path_table.h"

namespace edge::program {
namespace {

/// Remembers the first fault of one section. The checks return whether all is well so far.
class Checker {
 public:
  explicit Checker(const Section& section)
      : view_(section.view), size_(section.view.bytes().size()), budget_(size_), id_(section.id) {}

  const SectionView& view() const { return view_; }
  std::uint64_t id() const { return id_; }
  std::string fault() && { return std::move(fault_); }

  bool require(bool sound, const char* field) {
    if (!sound) [[unlikely]]
      fail(field);
    return sound;
  }
  bool require(bool sound, const char* field, std::size_t index) {
    if (!sound) [[unlikely]]
      fail(std::string(field) + " of record " + std::to_string(index));
    return sound;
  }

  /// An array of the section. Together they are no larger than the section: were they allowed to overlap, a small
  /// section could ask for much work.
  template <typename T>
  bool array(ArrayRef<T> ref, const char* field) {
    const std::uint64_t bytes = std::uint64_t{ref.count} * sizeof(T);
    if (!require(ref.offset % alignof(T) == 0 && ref.offset <= size_ && bytes <= size_ - ref.offset, field))
      return false;
    if (!require(bytes <= budget_, field)) return false;
    budget_ -= bytes;
    return true;
  }

  bool text(StringRef ref) const { return ref.offset <= size_ && ref.size <= size_ - ref.offset; }

 private:
  void fail(std::string field) {
    if (fault_.empty()) fault_ = std::move(field);
  }

  SectionView view_;
  std::uint64_t size_;
  std::uint64_t budget_;
  std::uint64_t id_;
  std::string fault_;
};

bool index_or_none(std::uint32_t index, std::uint32_t count) { return index == kNone || index < count; }

/// Whether `part` is a run of whole records of `all`, which was checked.
template <typename T>
bool within(ArrayRef<T> part, ArrayRef<T> all) {
  if (part.offset < all.offset || (part.offset - all.offset) % sizeof(T) != 0) return part.count == 0;
  const std::uint64_t first = (part.offset - all.offset) / sizeof(T);
  return first + part.count <= all.count;
}

/// Slots name entries that `is_entry` knows, and one is free, so that a probe ends.
template <typename IsEntry>
bool check_slots(Checker& check, ArrayRef<std::uint32_t> ref, const char* field, IsEntry is_entry) {
  if (!check.array(ref, field)) return false;
  if (ref.count == 0) return true;
  if (!check.require(std::has_single_bit(ref.count), field)) return false;
  std::uint32_t free = 0;
  bool sound = true;
  for (const std::uint32_t slot : check.view().array(ref)) {
    const bool is_free = slot == kFreeSlot;
    free += is_free;
    sound &= is_free || is_entry(slot_entry(slot));
  }
  return check.require(sound && free > 0, field);
}

bool check_names(Checker& check, const NameTable& table, std::uint32_t limit, const char* field) {
  const auto is_entry = [&table](std::uint32_t entry) { return entry < table.entries.count; };
  if (!check.array(table.entries, field) || !check_slots(check, table.slots, field, is_entry)) return false;
  bool sound = index_or_none(table.fallback, limit);
  for (const NameEntry& entry : check.view().array(table.entries))
    sound &= check.text(entry.name) && index_or_none(entry.exact, limit) && index_or_none(entry.wildcard, limit);
  return check.require(sound, field);
}

bool check_cidrs(Checker& check, ArrayRef<CidrRecord> ref, const char* field) {
  if (!check.array(ref, field)) return false;
  bool sound = true;
  for (const CidrRecord& cidr : check.view().array(ref)) sound &= cidr.prefix_length <= 128;
  return check.require(sound, field);
}

// ---- Listeners ----------------------------------------------------------------------------------------------------

bool check_host_entries(Checker& check, ArrayRef<HostEntry> ref) {
  if (!check.array(ref, "listeners.host_entries")) return false;
  bool sound = true;
  std::uint32_t index = 0;
  for (const HostEntry& entry : check.view().array(ref)) {
    // Ascending, so that falling through ends.
    sound &= check.text(entry.pattern) && (entry.next == kNone || (entry.next > index && entry.next < ref.count));
    ++index;
  }
  return check.require(sound, "listeners.host_entries");
}

bool check_listeners(Checker& check) {
  const SectionView& view = check.view();
  if (!check.require(view.bytes().size() >= sizeof(ListenersHeader), "header") || !check.require(check.id() == 0, "id"))
    return false;
  const auto& header = view.header<ListenersHeader>();
  if (!check.array(header.gateways, "gateways") || !check.array(header.binds, "binds") ||
      !check.array(header.listeners, "listeners"))
    return false;

  std::size_t index = 0;
  for (const GatewayRecord& gateway : view.array(header.gateways)) {
    if (!check.require(check.text(gateway.name_space) && check.text(gateway.name), "gateways", index++) ||
        !check_cidrs(check, gateway.trusted_proxies, "gateways.trusted_proxies"))
      return false;
  }
  index = 0;
  for (const BindRecord& bind : view.array(header.binds)) {
    if (!check.require(bind.protocol >= Protocol::kHttp && bind.protocol <= Protocol::kTls && bind.any_address <= 1,
                       "binds", index++) ||
        !check_names(check, bind.listeners, header.listeners.count, "binds.listeners"))
      return false;
  }
  index = 0;
  for (const ListenerRecord& listener : view.array(header.listeners)) {
    if (!check.require(check.text(listener.name) && listener.gateway < header.gateways.count, "listeners", index++) ||
        !check_host_entries(check, listener.host_entries) ||
        !check_names(check, listener.hosts, listener.host_entries.count, "listeners.hosts"))
      return false;
  }
  return true;
}

// ---- Host: paths, groups, predicates --------------------------------------------------------------------------------

bool target_sound(const HostHeader& host, Target32 target) {
  if (target == kNone) return true;
  if ((target & kActionBit) != 0) return (target & ~kActionBit) < host.actions.count;
  return target < host.groups.count;
}

/// Walks the records of the path table, and marks the words where one begins.
bool check_path_records(Checker& check, const HostHeader& host, std::vector<bool>& begins) {
  const auto words = check.view().array(host.paths);
  begins.assign(words.size(), false);
  for (std::uint64_t place = 0; place < words.size();) {
    if (!check.require(words.size() - place >= path_words(0), "paths")) return false;
    const PathRecord& record = path_at(words.data(), static_cast<std::uint32_t>(place));
    const std::uint64_t size = path_words(record.size);
    if (!check.require(
            size <= words.size() - place && target_sound(host, record.exact) && target_sound(host, record.prefix),
            "paths"))
      return false;
    begins[place] = true;
    place += size;
  }
  return true;
}

bool check_paths(Checker& check, const HostHeader& host) {
  std::vector<bool> begins;
  if (!check.array(host.paths, "paths") || !check_path_records(check, host, begins)) return false;
  const auto is_record = [&begins](std::uint32_t place) { return place < begins.size() && begins[place]; };
  return check_slots(check, host.path_slots, "path_slots", is_record) &&
         check.require(host.max_probe <= host.path_slots.count && target_sound(host, host.root_prefix) &&
                           target_sound(host, host.regex) && target_sound(host, host.any_path),
                       "paths");
}

bool check_groups(Checker& check, const HostHeader& host) {
  if (!check.array(host.groups, "groups") || !check.array(host.candidates, "candidates")) return false;
  bool sound = true;
  for (const GroupRecord& group : check.view().array(host.groups))
    sound &= group.first <= host.candidates.count && group.count <= host.candidates.count - group.first;
  if (!check.require(sound, "groups")) return false;
  for (const CandidateRecord& candidate : check.view().array(host.candidates))
    sound &= index_or_none(candidate.predicate, host.nodes.count) && candidate.action < host.actions.count;
  return check.require(sound, "candidates");
}

/// What is known of a checked node: both bounded, so that interpreting it is.
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
  if (filter.op < FilterOp::kRequestHeaderSet || filter.op > FilterOp::kRedirectFullPath) return false;
  const std::uint32_t status = filter.detail & 0xffff;
  if (filter.op == FilterOp::kRedirect && (status < 300 || status > 399)) return false;
  return check.text(filter.name) && check.text(filter.value);
}

/// Each split has its own run of backends: `used` sums them, so that the check stays linear.
bool split_sound(const Checker& check, const HostHeader& host, const SplitRecord& split, std::uint64_t& used) {
  if (!within(split.backends, host.backend_refs) || split.canary >= split.backends.count) return false;
  used += split.backends.count;
  if (used > host.backend_refs.count) return false;
  std::uint64_t weight = 0;
  for (const BackendRefRecord& backend : check.view().array(split.backends)) weight += backend.weight;
  return weight == split.total_weight;
}

bool action_sound(const HostHeader& host, const ActionRecord& action) {
  if (action.route >= host.routes.count || action.traffic >= host.traffics.count) return false;
  if (action.split == kNone) return true;
  if ((action.split & kSingleBackendBit) != 0) return (action.split & ~kSingleBackendBit) < host.backend_refs.count;
  return action.split < host.splits.count;
}

bool check_treatments(Checker& check, const HostHeader& host) {
  if (!check.array(host.traffics, "traffics") || !check.array(host.splits, "splits") ||
      !check.array(host.backend_refs, "backend_refs") || !check.array(host.filters, "filters"))
    return false;
  std::size_t index = 0;
  for (const FilterRecord& filter : check.view().array(host.filters))
    if (!check.require(filter_sound(check, filter), "filters", index++)) return false;
  index = 0;
  for (const TrafficRecord& traffic : check.view().array(host.traffics))
    if (!check.require(within(traffic.filters, host.filters), "traffics", index++)) return false;
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

bool check_host(Checker& check) {
  if (!check.require(check.view().bytes().size() >= sizeof(HostHeader), "header")) return false;
  const auto& host = check.view().header<HostHeader>();
  return check.require(host.host_id == check.id(), "host_id") && check.require(check.text(host.pattern), "pattern") &&
         check_paths(check, host) && check_groups(check, host) && check_predicates(check, host) &&
         check_regexes(check, host) && check_treatments(check, host) && check_actions(check, host);
}

// ---- Backends -------------------------------------------------------------------------------------------------------

bool check_backends(Checker& check) {
  const SectionView& view = check.view();
  if (!check.require(view.bytes().size() >= sizeof(BackendsHeader), "header") || !check.require(check.id() == 0, "id"))
    return false;
  const auto& header = view.header<BackendsHeader>();
  if (!check.array(header.backends, "backends")) return false;
  std::uint64_t previous = 0;
  std::size_t index = 0;
  for (const BackendRecord& backend : view.array(header.backends)) {
    const bool sound = backend.id > previous && check.text(backend.name_space) && check.text(backend.name) &&
                       backend.balance >= Balance::kRoundRobin && backend.balance <= Balance::kRandom;
    if (!check.require(sound, "backends", index++)) return false;
    previous = backend.id;
  }
  return true;
}

}  // namespace

std::string check_section(const Section& section) {
  Checker check(section);
  switch (section.kind) {
    case SectionKind::kListeners:
      check_listeners(check);
      break;
    case SectionKind::kHost:
      check_host(check);
      break;
    case SectionKind::kBackends:
      check_backends(check);
      break;
    // Opaque here: machine code is trusted by its signature, databases by Hyperscan's own checks after it.
    case SectionKind::kNative:
    case SectionKind::kRegex:
      break;
    default:
      return "kind";
  }
  return std::move(check).fault();
}

}  // namespace edge::program
