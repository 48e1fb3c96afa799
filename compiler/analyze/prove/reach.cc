#include "compiler/analyze/prove/reach.h"

#include <algorithm>
#include <utility>

namespace edge::compiler::analyze {
namespace {

/// With more rules than these, looking for those that could be left out costs more than it tells.
constexpr std::size_t kMostExamined = 12;

}  // namespace

Witness ReachSearch::at_host(Witness request) const {
  request.host = base_.host;
  request.port = base_.port;
  return request;
}

std::optional<TableRule> ReachSearch::taker(const Witness& request) const {
  const WitnessView view(request);
  return rules_.taker(view.view(), regex_);
}

Reach ReachSearch::decide(const TableRule& rule, Effort& effort) {
  const Set with_path = space_.where({Subject::Kind::kPath}, Test::kBelow);
  const Set matches = rules_.matches(rule);
  const Set own = space_.all_of({matches, with_path});
  Reach reach;
  bool nowhere = false;
  const auto refuse = [&](const Witness& found) -> std::optional<Set> {
    Witness request = at_host(found);
    const std::optional<TableRule> by = taker(request);
    nowhere = !by;
    if (nowhere || by->same_match(rule)) return std::nullopt;
    reach.taken.push_back({*by, std::move(request)});
    return rules_.matches(*by);
  };
  Finding finding = space_.find(own, effort, refuse);
  switch (finding.state) {
    case Finding::State::kFound:
      reach.state = nowhere ? Reach::State::kNowhere : Reach::State::kReached;
      reach.request = at_host(std::move(*finding.request));
      return reach;
    case Finding::State::kNotDecided:
      reach.reason = std::move(finding.reason);
      return reach;
    case Finding::State::kNone:
      break;
  }
  std::vector<Taken> taken = std::exchange(reach.taken, {});
  Finding of_server = space_.find(space_.minus(matches, with_path), effort, refuse);
  reach.taken = std::move(taken);
  reach.of_server = of_server.state == Finding::State::kFound && !nowhere;
  if (reach.taken.empty() && reach.of_server) {
    reach.state = Reach::State::kReached;
    reach.request = at_host(std::move(*of_server.request));
    return reach;
  }
  reach.state = reach.taken.empty() ? Reach::State::kImpossible : Reach::State::kCovered;
  drop_needless(own, reach.taken, effort);
  return reach;
}

/// The search came upon rules one after the other; some of the first may be covered by the later ones.
void ReachSearch::drop_needless(Set own, std::vector<Taken>& taken, Effort& effort) {
  if (taken.size() < 2 || taken.size() > kMostExamined) return;
  for (std::size_t at = taken.size(); at-- > 0 && taken.size() > 1;) {
    std::vector<Set> left = {own};
    for (std::size_t i = 0; i < taken.size(); ++i) {
      if (i != at) left.push_back(space_.complement(rules_.matches(taken[i].taker)));
    }
    if (space_.find(space_.all_of(std::move(left)), effort).state == Finding::State::kNone) {
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
}

std::optional<Witness> ReachSearch::request_of(Set set, Effort& effort,
                                               const std::function<bool(const Witness&)>& accept) {
  const Set with_path = space_.where({Subject::Kind::kPath}, Test::kBelow);
  Finding finding =
      space_.find(space_.all_of({set, with_path}), effort, [&](const Witness& found) -> std::optional<Set> {
        const Witness request = at_host(found);
        if (accept(request)) return std::nullopt;
        const std::optional<TableRule> by = taker(request);
        return by ? rules_.matches(*by) : set;
      });
  if (finding.state != Finding::State::kFound) return std::nullopt;
  return at_host(std::move(*finding.request));
}

}  // namespace edge::compiler::analyze
