#include "compiler/emit/native_plan.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

namespace edge::compiler::emit {
namespace {

using program::HostHeader;
using program::NodeRecord;
using program::Op;

/// Below this many candidates a chain of comparisons is smaller and not slower than a tree.
constexpr std::size_t kShortChain = 3;

class Planner {
 public:
  explicit Planner(const program::SectionView& host)
      : host_(host),
        nodes_(host.array(host.header<HostHeader>().nodes)),
        operands_(host.array(host.header<HostHeader>().operands)) {}

  Plan plan(std::vector<PlannedCandidate> list) const {
    Plan result;
    if (!list.empty()) result.first = list.front().index;
    const std::uint32_t slot = list.size() <= kShortChain ? program::kNone : best_slot(list);
    if (slot == program::kNone) {
      result.chain = std::move(list);
      return result;
    }
    result.split = std::make_unique<Split>();
    result.split->slot = slot;
    divide(std::move(list), *result.split);
    return result;
  }

  /// Adds the tests of `node` to `tests`, conjunctions opened, each node once (nodes may be shared: a walk of the tree
  /// could be exponential). \returns false when it can never hold.
  bool flatten(std::uint32_t node, std::set<std::uint32_t>& seen, std::vector<std::uint32_t>& tests) const {
    if (!seen.insert(node).second) return true;
    const NodeRecord& record = nodes_[node];
    if (record.op == Op::kFalse) return false;
    if (record.op != Op::kAnd) {
      tests.push_back(node);
      return true;
    }
    for (const std::uint32_t operand : operands_.subspan(record.a, record.b)) {
      if (!flatten(operand, seen, tests)) return false;
    }
    return true;
  }

 private:
  struct SlotUse {
    std::vector<std::string_view> values;
  };

  /// The slot whose exact values tell most candidates apart; the lower one of equals. kNone when none is tested.
  std::uint32_t best_slot(const std::vector<PlannedCandidate>& list) const {
    std::map<std::uint32_t, SlotUse> uses;
    for (const PlannedCandidate& candidate : list) {
      std::vector<std::uint32_t> seen;
      for (const std::uint32_t test : candidate.tests) {
        const NodeRecord& node = nodes_[test];
        if (node.op != Op::kEquals || std::find(seen.begin(), seen.end(), node.slot) != seen.end()) continue;
        seen.push_back(node.slot);
        uses[node.slot].values.push_back(host_.string(node.a, node.b));
      }
    }
    std::uint32_t best = program::kNone;
    std::pair<std::size_t, std::size_t> best_score{0, 1};  // one user alone is no reason to split
    for (auto& [slot, use] : uses) {
      const std::size_t users = use.values.size();
      std::sort(use.values.begin(), use.values.end());
      const auto distinct =
          static_cast<std::size_t>(std::unique(use.values.begin(), use.values.end()) - use.values.begin());
      const std::pair<std::size_t, std::size_t> score{distinct, users};
      if (users > 1 && score > best_score) {
        best = slot;
        best_score = score;
      }
    }
    return best;
  }

  void divide(std::vector<PlannedCandidate> list, Split& split) const {
    const auto shorter = [](std::string_view a, std::string_view b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    };
    std::map<std::string_view, std::vector<PlannedCandidate>, decltype(shorter)> buckets(shorter);
    std::vector<PlannedCandidate> rest;
    for (PlannedCandidate& candidate : list) {
      const auto test = std::find_if(candidate.tests.begin(), candidate.tests.end(), [&](std::uint32_t node) {
        return nodes_[node].op == Op::kEquals && nodes_[node].slot == split.slot;
      });
      if (test == candidate.tests.end()) {
        rest.push_back(std::move(candidate));
        continue;
      }
      const std::string_view value = host_.string(nodes_[*test].a, nodes_[*test].b);
      candidate.tests.erase(test);
      std::vector<PlannedCandidate>& bucket = buckets[value];
      // What follows an unconditional candidate of its bucket is never reached.
      if (bucket.empty() || !bucket.back().tests.empty()) bucket.push_back(std::move(candidate));
    }
    for (auto& [value, bucket] : buckets) split.buckets.emplace_back(value, plan(std::move(bucket)));
    if (!rest.empty()) split.rest = std::make_unique<Plan>(plan(std::move(rest)));
  }

  const program::SectionView& host_;
  std::span<const NodeRecord> nodes_;
  std::span<const std::uint32_t> operands_;
};

class GroupText {
 public:
  explicit GroupText(const program::SectionView& host) : host_(host), header_(host.header<HostHeader>()) {}

  void add(const program::CandidateRecord& candidate) {
    if (candidate.predicate == program::kNone) {
      number(program::kNone);
    } else {
      add_node(candidate.predicate);
    }
  }
  bool too_long() const { return text_.size() > kMaxText; }
  std::string take() && { return std::move(text_); }

 private:
  static constexpr std::size_t kMaxText = 1024;

  void add_node(std::uint32_t index) {
    if (too_long()) return;
    const NodeRecord& node = host_.array(header_.nodes)[index];
    number(static_cast<std::uint32_t>(node.op));
    number(node.slot);
    switch (node.op) {
      case Op::kAnd:
      case Op::kOr:
        number(node.b);
        for (const std::uint32_t operand : host_.array(header_.operands).subspan(node.a, node.b)) add_node(operand);
        break;
      case Op::kNot:
        add_node(node.a);
        break;
      case Op::kSourceIn: {
        const program::CidrRecord& cidr = host_.array(header_.cidrs)[node.a];
        text_.append(reinterpret_cast<const char*>(&cidr), sizeof cidr);
        break;
      }
      case Op::kRegex:
        number(node.a);
        break;
      case Op::kEquals:
      case Op::kPathPrefix:
      case Op::kContains:
        number(node.b);
        text_ += host_.string(node.a, node.b);
        break;
      case Op::kPresent:
      case Op::kFalse:
        break;
    }
  }
  void number(std::uint32_t value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }

  const program::SectionView& host_;
  const HostHeader& header_;
  std::string text_;
};

/// Candidates of a group that is worth looking for.
constexpr std::size_t kSharedGroup = 4;

}  // namespace

std::string group_text(const program::SectionView& host, const program::GroupRecord& group) {
  if (group.count > kSharedGroup) return {};
  GroupText text(host);
  for (const auto& candidate : host.array(host.header<HostHeader>().candidates).subspan(group.first, group.count)) {
    text.add(candidate);
    if (text.too_long()) return {};
  }
  return std::move(text).take();
}

Plan plan_group(const program::SectionView& host, const program::GroupRecord& group) {
  const Planner planner(host);
  const auto candidates = host.array(host.header<HostHeader>().candidates).subspan(group.first, group.count);
  std::vector<PlannedCandidate> list;
  for (std::uint32_t i = 0; i < candidates.size(); ++i) {
    PlannedCandidate candidate{i, {}};
    if (const std::uint32_t predicate = candidates[i].predicate; predicate != program::kNone) {
      std::set<std::uint32_t> seen;
      if (!planner.flatten(predicate, seen, candidate.tests)) continue;
    }
    const bool unconditional = candidate.tests.empty();
    list.push_back(std::move(candidate));
    if (unconditional) break;
  }
  return planner.plan(std::move(list));
}

std::vector<Window> windows(std::size_t size) {
  std::vector<Window> result;
  const std::uint32_t width = size >= 8 ? 8 : size >= 4 ? 4 : size >= 2 ? 2 : 1;
  const auto end = static_cast<std::uint32_t>(size);
  for (std::uint32_t offset = 0; offset + width <= end; offset += width) result.push_back({offset, width});
  if (end % width != 0) result.push_back({end - width, width});
  return result;
}

std::uint64_t window_word(std::string_view value, Window window) {
  std::uint64_t word = 0;
  std::memcpy(&word, value.data() + window.offset, window.width);
  return word;
}

}  // namespace edge::compiler::emit
