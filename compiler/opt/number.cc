#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "compiler/ir/node_set.h"
#include "compiler/opt/passes.h"

namespace edge::compiler::opt {
namespace {

using program::Op;

constexpr std::uint32_t kUnused = program::kNone;

bool has_slot(Op op) { return op == Op::kPresent || op == Op::kEquals || op == Op::kContains; }

/// Copies the nodes that candidates use, operands before their users, in the order of first use.
class Collector {
 public:
  explicit Collector(const ir::Host& host) : host_(host), moved_(host.nodes.size(), kUnused) {}

  std::uint32_t collect(std::uint32_t index) {
    if (moved_[index] != kUnused) return moved_[index];
    ir::Node node = host_.nodes[index];
    for (std::uint32_t& operand : node.operands) operand = collect(operand);
    nodes_.push_back(std::move(node));
    return moved_[index] = static_cast<std::uint32_t>(nodes_.size() - 1);
  }

  std::vector<ir::Node>& nodes() { return nodes_; }

 private:
  const ir::Host& host_;
  std::vector<std::uint32_t> moved_;
  std::vector<ir::Node> nodes_;
};

/// Sorts the used patterns: the path's first, each slot's in the order of first use. Nodes come in that order.
void number_regexes(ir::Host& host, std::vector<ir::Node>& nodes) {
  std::vector<std::uint32_t> order;  // old numbers
  std::vector<bool> seen(host.regexes.size());
  for (const ir::Node& node : nodes) {
    if (node.op != Op::kRegex || seen[node.regex]) continue;
    seen[node.regex] = true;
    order.push_back(node.regex);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return host.regexes[a].slot < host.regexes[b].slot; });
  std::vector<std::uint32_t> moved(host.regexes.size(), kUnused);
  std::vector<ir::Regex> regexes;
  for (const std::uint32_t old : order) {
    moved[old] = static_cast<std::uint32_t>(regexes.size());
    regexes.push_back(std::move(host.regexes[old]));
  }
  for (ir::Node& node : nodes) {
    if (node.op == Op::kRegex) node.regex = moved[node.regex];
  }
  host.regexes = std::move(regexes);
}

/// Sorts the used slots by (kind, name). Runs before number_regexes, which sorts by slot.
void number_slots(ir::Host& host, std::vector<ir::Node>& nodes) {
  std::vector<bool> used(host.slots.size());
  const auto use = [&used](std::uint32_t slot) {
    if (slot >= program::kFirstHostSlot) used[slot - program::kFirstHostSlot] = true;
  };
  for (const ir::Node& node : nodes) {
    if (has_slot(node.op)) use(node.slot);
    if (node.op == Op::kRegex) use(host.regexes[node.regex].slot);
  }
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < host.slots.size(); ++i) {
    if (used[i]) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(host.slots[a].kind, host.slots[a].name) < std::tie(host.slots[b].kind, host.slots[b].name);
  });
  std::vector<std::uint32_t> moved(host.slots.size(), kUnused);
  std::vector<ir::Slot> slots;
  for (const std::uint32_t old : order) {
    moved[old] = program::kFirstHostSlot + static_cast<std::uint32_t>(slots.size());
    slots.push_back(std::move(host.slots[old]));
  }
  const auto move_slot = [&moved](std::uint32_t& slot) {
    if (slot >= program::kFirstHostSlot) slot = moved[slot - program::kFirstHostSlot];
  };
  for (ir::Node& node : nodes) {
    if (has_slot(node.op)) move_slot(node.slot);
  }
  for (ir::Regex& regex : host.regexes) move_slot(regex.slot);
  host.slots = std::move(slots);
}

}  // namespace

void number(ir::Host& host) {
  Collector collector(host);
  ir::for_each_group(host, [&collector](ir::Group& group, const std::string*) {
    for (ir::Candidate& candidate : group) {
      if (candidate.predicate != ir::kAlways) candidate.predicate = collector.collect(candidate.predicate);
    }
  });
  number_slots(host, collector.nodes());
  number_regexes(host, collector.nodes());
  host.nodes = std::move(collector.nodes());
  // Losers are told by route, rule and match; their predicates are gone.
  for (ir::Shadowed& shadowed : host.shadowed) shadowed.loser.predicate = shadowed.winner.predicate = ir::kAlways;
  for (ir::Candidate& candidate : host.impossible) candidate.predicate = ir::kAlways;
}

}  // namespace edge::compiler::opt
