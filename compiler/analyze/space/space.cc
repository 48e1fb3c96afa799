#include "compiler/analyze/space/space.h"

#include <algorithm>
#include <array>
#include <utility>

#include "compiler/analyze/space/values.h"
#include "program/claim_field.h"

namespace edge::compiler::analyze {
namespace {

enum class NodeKind : std::uint8_t { kNothing, kEverything, kCondition, kAll, kAny, kNot };

struct Node {
  NodeKind kind;
  std::uint32_t condition = 0;            ///< kCondition
  std::vector<std::uint32_t> parts = {};  ///< indices of nodes, smaller than the node's own
};

constexpr std::uint32_t kNothing = 0;
constexpr std::uint32_t kEverything = 1;

enum class Truth : std::uint8_t { kFalse, kTrue, kOpen };

Truth opposite(Truth truth) {
  return truth == Truth::kOpen ? truth : truth == Truth::kTrue ? Truth::kFalse : Truth::kTrue;
}

/// Searches a space for one request.
class SpaceSearch {
 public:
  SpaceSearch(const std::vector<Node>& nodes, Values& values, Effort& effort)
      : nodes_(nodes), values_(values), effort_(effort) {}

  Finding run(std::uint32_t root) {
    collect(root);
    decided_.assign(values_.count(), Truth::kOpen);
    goals_.assign(values_.parts(), {});
    found_.assign(values_.parts(), {});
    Finding finding;
    if (search(root)) {
      finding.state = Finding::State::kFound;
      finding.request = std::move(request_);
    } else if (effort_.exhausted()) {
      finding.reason = "the search came to its bound";
    } else if (!doubt_.empty()) {
      finding.reason = doubt_;
    } else {
      finding.state = Finding::State::kNone;
    }
    return finding;
  }

 private:
  /// The nodes that `root` is made of, in an order in which parts come first.
  void collect(std::uint32_t root) {
    std::vector<bool> seen(nodes_.size());
    std::vector<std::uint32_t> pending = {root};
    seen[root] = true;
    while (!pending.empty()) {
      const std::uint32_t at = pending.back();
      pending.pop_back();
      order_.push_back(at);
      for (const std::uint32_t part : nodes_[at].parts) {
        if (!seen[part]) pending.push_back(part);
        seen[part] = true;
      }
    }
    std::ranges::sort(order_);
    truth_.assign(nodes_.size(), Truth::kOpen);
  }

  void evaluate() {
    effort_.spend(order_.size());
    for (const std::uint32_t at : order_) truth_[at] = value_of(nodes_[at]);
  }

  Truth value_of(const Node& node) const {
    switch (node.kind) {
      case NodeKind::kNothing:
        return Truth::kFalse;
      case NodeKind::kEverything:
        return Truth::kTrue;
      case NodeKind::kCondition:
        return decided_[node.condition];
      case NodeKind::kNot:
        return opposite(truth_[node.parts.front()]);
      case NodeKind::kAll:
      case NodeKind::kAny:
        break;
    }
    const Truth settling = node.kind == NodeKind::kAll ? Truth::kFalse : Truth::kTrue;
    bool open = false;
    for (const std::uint32_t part : node.parts) {
      if (truth_[part] == settling) return settling;
      open |= truth_[part] == Truth::kOpen;
    }
    return open ? Truth::kOpen : opposite(settling);
  }

  /// Depth: one level a condition. Leaves what was decided as it found it unless it returns true.
  bool search(std::uint32_t root) {
    evaluate();
    if (effort_.exhausted() || truth_[root] == Truth::kFalse) return false;
    if (truth_[root] == Truth::kTrue) return make_request();
    const ConditionGoal wanted = choose(root);
    for (const ConditionGoal goal : {wanted, wanted ^ 1U}) {
      const std::uint32_t condition = condition_of(goal);
      const std::uint32_t part = values_.part_of(condition);
      const Value before = found_[part];
      const std::vector<ConditionGoal> goals = goals_[part];
      if (decide(part, goal)) {
        decided_[condition] = must_hold(goal) ? Truth::kTrue : Truth::kFalse;
        if (search(root)) return true;
        decided_[condition] = Truth::kOpen;
      }
      found_[part] = before;
      goals_[part] = goals;
      if (effort_.exhausted()) return false;
    }
    return false;
  }

  bool decide(std::uint32_t part, ConditionGoal goal) {
    goals_[part].push_back(goal);
    switch (values_.find(part, goals_[part], effort_, found_[part])) {
      case Values::Found::kValue:
        return true;
      case Values::Found::kNone:
        return false;
      case Values::Found::kNotDecided:
        break;
    }
    if (doubt_.empty()) doubt_ = "a value could not be found, nor excluded, within the bound";
    return false;
  }

  /// The next condition to decide, and how: on the way down from an open node, what is needed before what is one choice
  /// of many.
  ConditionGoal choose(std::uint32_t at) const {
    bool wanted = true;
    while (nodes_[at].kind != NodeKind::kCondition) {
      const Node& node = nodes_[at];
      if (node.kind == NodeKind::kNot) {
        wanted = !wanted;
        at = node.parts.front();
        continue;
      }
      std::uint32_t best = at;
      std::size_t fewest = 0;
      for (const std::uint32_t part : node.parts) {
        if (truth_[part] != Truth::kOpen) continue;
        const std::size_t choices = open_parts(part);
        if (best != at && choices >= fewest) continue;
        best = part;
        fewest = choices;
      }
      at = best;
    }
    return goal_of(nodes_[at].condition, wanted);
  }

  std::size_t open_parts(std::uint32_t at) const {
    while (nodes_[at].kind == NodeKind::kNot) at = nodes_[at].parts.front();
    if (nodes_[at].kind == NodeKind::kCondition) return 1;
    return 1 + static_cast<std::size_t>(std::ranges::count_if(
                   nodes_[at].parts, [&](std::uint32_t part) { return truth_[part] == Truth::kOpen; }));
  }

  /// Every part has a value that fulfils what was decided about it; parts are free of each other, but for the host and
  /// the field of that name.
  bool make_request() {
    Witness request;
    for (std::uint32_t part = 0; part < values_.parts(); ++part) {
      if (goals_[part].empty()) continue;
      if (!take(part, request)) {
        doubt_ = "a request would need another `Host` field than its host";
        return false;
      }
    }
    if (goals_[Values::kHost].empty()) request.host = "any.example";
    request_ = std::move(request);
    return true;
  }

  bool take(std::uint32_t part, Witness& request) {
    const Value& value = found_[part];
    switch (part) {
      case Values::kHost:
        request.host = value.text;
        return true;
      case Values::kSource:
        request.source = value.source;
        return true;
      case Values::kMethod:
        request.method = value.text;
        return true;
      case Values::kPath:
        request.path = value.text;
        return true;
      default:
        return take_field(part, value, request);
    }
  }

  bool take_field(std::uint32_t part, const Value& value, Witness& request) {
    const Subject& subject = values_.subject_of(part);
    if (subject.kind == Subject::Kind::kQuery) {
      if (value.absent) return true;
      if (!request.query.empty()) request.query += '&';
      request.query += query_encoded(subject.name) + "=" + query_encoded(value.text);
      return true;
    }
    if (subject.name == "host") {
      // The host comes first among the parts.
      if (goals_[Values::kHost].empty()) request.host = "any.example";
      Value host;
      host.text = request.host;
      request.headers.emplace_back("host", host.text);
      return values_.fits(host, goals_[part], effort_);
    }
    if (value.absent) return true;
    // What ends in ", " is the last of several fields, and empty.
    std::string_view text = value.text;
    std::size_t empty = 0;
    for (; !program::is_claim_field(subject.name) && text.ends_with(", "); ++empty) text.remove_suffix(2);
    request.headers.emplace_back(subject.name, text);
    for (; empty > 0; --empty) request.headers.emplace_back(subject.name, std::string());
    return true;
  }

  const std::vector<Node>& nodes_;
  Values& values_;
  Effort& effort_;
  std::vector<std::uint32_t> order_;
  std::vector<Truth> truth_;                       ///< by node
  std::vector<Truth> decided_;                     ///< by condition
  std::vector<std::vector<ConditionGoal>> goals_;  ///< by part
  std::vector<Value> found_;                       ///< by part
  Witness request_;
  std::string doubt_;
};

}  // namespace

struct Space::State {
  std::vector<Node> nodes = {{NodeKind::kNothing}, {NodeKind::kEverything}};
  std::vector<std::uint32_t> of_condition;  ///< node of a condition, by its number
  Values values;

  Set add(Node node) {
    nodes.push_back(std::move(node));
    return Set{static_cast<std::uint32_t>(nodes.size() - 1)};
  }

  Set condition(std::uint32_t number) {
    if (number >= of_condition.size()) of_condition.resize(number + 1, kNothing);
    std::uint32_t& node = of_condition[number];
    if (node == kNothing) node = static_cast<std::uint32_t>(add({NodeKind::kCondition, number}));
    return Set{node};
  }

  Set join(NodeKind kind, const std::vector<Set>& sets) {
    const std::uint32_t neutral = kind == NodeKind::kAll ? kEverything : kNothing;
    const std::uint32_t settling = kind == NodeKind::kAll ? kNothing : kEverything;
    Node node{kind};
    for (const Set set : sets) {
      const auto index = static_cast<std::uint32_t>(set);
      if (index == settling) return set;
      if (index == neutral) continue;
      if (nodes[index].kind == kind) {
        node.parts.insert(node.parts.end(), nodes[index].parts.begin(), nodes[index].parts.end());
      } else {
        node.parts.push_back(index);
      }
    }
    if (node.parts.empty()) return Set{neutral};
    if (node.parts.size() == 1) return Set{node.parts.front()};
    return add(std::move(node));
  }
};

Space::Space() : state_(std::make_unique<State>()) {}
Space::~Space() = default;
Space::Space(Space&&) noexcept = default;
Space& Space::operator=(Space&&) noexcept = default;

Set Space::everything() const { return Set{kEverything}; }
Set Space::nothing() const { return Set{kNothing}; }

Set Space::host_in(const HostPattern& pattern) {
  return pattern.any() ? everything() : state_->condition(state_->values.host_in(pattern));
}
Set Space::source_in(const Cidr& block) { return state_->condition(state_->values.source_in(block)); }
Set Space::where(const Subject& subject, Test test, const std::string& operand) {
  return state_->condition(state_->values.where(subject, test, operand));
}

Set Space::all_of(std::vector<Set> sets) { return state_->join(NodeKind::kAll, sets); }
Set Space::any_of(std::vector<Set> sets) { return state_->join(NodeKind::kAny, sets); }

Set Space::complement(Set set) {
  const auto index = static_cast<std::uint32_t>(set);
  if (index <= kEverything) return Set{index ^ kEverything};
  const Node& node = state_->nodes[index];
  if (node.kind == NodeKind::kNot) return Set{node.parts.front()};
  return state_->add({NodeKind::kNot, 0, {index}});
}

Finding Space::find(Set set, Effort& effort) {
  const Subject path{Subject::Kind::kPath};
  const auto look = [&](Set narrowed) {
    return SpaceSearch(state_->nodes, state_->values, effort).run(static_cast<std::uint32_t>(narrowed));
  };
  Finding finding = look(all_of({set, where(path, Test::kBelow)}));
  if (finding.state == Finding::State::kFound) return finding;
  // RFC 9112 §3.2.4: a request for the server as a whole.
  const Set whole =
      all_of({where(path, Test::kEquals, "*"), where({Subject::Kind::kMethod}, Test::kEquals, "OPTIONS"), set});
  Finding of_server = look(whole);
  if (of_server.state == Finding::State::kFound || finding.state == Finding::State::kNone) return of_server;
  return finding;
}

Finding Space::find(Set set, Effort& effort, const Refusal& refuse) {
  std::vector<Set> left = {set};
  while (true) {
    Finding finding = find(all_of(left), effort);
    if (finding.state != Finding::State::kFound) return finding;
    const std::optional<Set> refused = refuse(*finding.request);
    if (!refused) return finding;
    left.push_back(complement(*refused));
  }
}

}  // namespace edge::compiler::analyze
