#include "compiler/host_tables.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "compiler/route_refusals.h"

namespace edge::compiler {

Result<std::vector<HostWork>> HostTables::make(const LinkedConfig& config, Keys stale, const Stages& stages) {
  // Whether a route is refused depends on the routes that share hosts with it, so those are made together.
  if (!routes_.refused().empty()) {
    Keys together = served_.together(stale);
    if (retry_refused(config, together)) stale = std::move(together);
  }
  const std::size_t refused_before = routes_.refused().size();
  std::vector<HostWork> works = run(stale, stages);
  if (Status refused = refuse(config, works, stages); !refused) return refused.error();
  if (routes_.refused().size() == refused_before) return works;
  // A route that is refused now leaves hosts that were not made, too.
  const Keys together = served_.together(stale);
  if (together.size() == stale.size()) return works;
  retry_refused(config, together);
  works = run(together, stages);
  if (Status refused = refuse(config, works, stages); !refused) return refused.error();
  return works;
}

std::vector<HostWork> HostTables::run(const Keys& keys, const Stages& stages) const {
  std::vector<HostWork> works;
  works.reserve(keys.size());
  for (const ir::HostKey& key : keys) {
    const auto& [host, routes] = served_.at(key);
    stages(works.emplace_back(HostWork{&host, &routes, {}, {}}));
  }
  return works;
}

/// Checks the refused routes of these hosts again. \returns whether there were any.
bool HostTables::retry_refused(const LinkedConfig& config, const Keys& keys) {
  std::set<std::uint32_t> routes;
  for (const ir::HostKey& key : keys) {
    for (const std::uint32_t route : served_.at(key).second) {
      if (routes_.refused().contains(route)) routes.insert(route);
    }
  }
  for (const std::uint32_t route : routes) routes_.check(config, route);
  return !routes.empty();
}

/// Refuses the routes that make a host too large, then those whose patterns are at fault.
Status HostTables::refuse(const LinkedConfig& config, std::vector<HostWork>& works, const Stages& stages) {
  std::set<std::uint32_t> over;
  for (const HostWork& work : works) {
    for (RouteRefusal& refusal : routes_over_limit(config, work.host, kMaxHostSlots)) {
      over.insert(refusal.route);
      routes_.refuse(std::move(refusal));
    }
  }
  if (!over.empty()) run_again(over, works, stages);
  return refuse_patterns(config, works, stages);
}

/// Until no pattern is at fault: those that are take their routes with them, and the hosts of these are made again.
Status HostTables::refuse_patterns(const LinkedConfig& config, std::vector<HostWork>& works, const Stages& stages) {
  std::vector<program::SectionView> views;
  for (const HostWork& work : works) views.push_back(work.view());
  while (!views.empty()) {
    std::vector<PatternRefusal> refusals;
    {
      const StageTimer timer(stats_.regex);
      RegexSets::Counts counts;
      auto result = regexes_.compile(views, counts);
      stats_.regex_sets_built += counts.built;
      stats_.regex_sets_from_disk += counts.from_disk;
      if (!result) return result.error();
      refusals = std::move(*result);
    }
    if (refusals.empty()) return {};
    std::set<std::uint32_t> routes;
    for (const HostWork& work : works) {
      for (RouteRefusal& refusal : routes_refused(config, work.host, work.view(), refusals)) {
        routes.insert(refusal.route);
        routes_.refuse(std::move(refusal));
      }
    }
    views.clear();
    for (const HostWork* work : run_again(routes, works, stages)) views.push_back(work->view());
  }
  return {};
}

/// \returns the hosts that any of `routes` serves.
std::vector<HostWork*> HostTables::run_again(const std::set<std::uint32_t>& routes, std::vector<HostWork>& works,
                                             const Stages& stages) {
  std::vector<HostWork*> touched;
  for (HostWork& work : works) {
    const bool serves = std::ranges::any_of(
        routes, [&](std::uint32_t route) { return std::ranges::binary_search(*work.routes, route); });
    if (!serves) continue;
    stages(work);
    touched.push_back(&work);
  }
  return touched;
}

}  // namespace edge::compiler
