#include "compiler/route_test/run.h"

#include <algorithm>
#include <set>
#include <utility>

#include "compiler/analyze/space/witness.h"
#include "program/format/records.h"

namespace edge::compiler::route_test {
namespace {

std::set<RuleName> rules_of(const program::ProgramView& program) {
  std::set<RuleName> rules;
  for (const program::Section& section : program.sections()) {
    if (section.kind != program::SectionKind::kHost) continue;
    const program::SectionView& host = section.view;
    const auto& header = host.header<program::HostHeader>();
    const auto routes = host.array(header.routes);
    for (const program::ActionRecord& action : host.array(header.actions)) {
      const program::RouteRecord& route = routes[action.route];
      std::string name(program::name_space_of(host, route));
      name.append("/").append(host.string(route.name));
      rules.insert({std::move(name), action.rule});
    }
  }
  return rules;
}

}  // namespace

CaseResult run_case(const program::ProgramView& program, const Case& one, const program::RegexMatcher& regex) {
  CaseResult result;
  const auto bind = analyze::bind_of_port(program, one.request.request.port, one.request.port_written);
  if (!bind) {
    result.differences.push_back(
        {"listener", "one on port " + std::to_string(one.request.request.port), bind.error().text});
    return result;
  }
  const analyze::WitnessView view(one.request.request);
  result.bind = *bind;
  result.passage = analyze::pass(program, *bind, view.view(), regex);
  result.differences = differences(one.expect, result.passage);
  return result;
}

Coverage coverage(const program::ProgramView& program, const std::vector<CaseResult>& results) {
  std::set<RuleName> missed = rules_of(program);
  Coverage out;
  out.rules = missed.size();
  for (const CaseResult& result : results) missed.erase({result.passage.route, result.passage.rule});
  out.missed.assign(missed.begin(), missed.end());
  return out;
}

}  // namespace edge::compiler::route_test
