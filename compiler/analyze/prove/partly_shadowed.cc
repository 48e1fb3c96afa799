#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/analyze/prove/shadows.h"
#include "compiler/analyze/space/host_rules.h"
#include "compiler/analyze/space/space.h"
#include "compiler/expr/regex_matcher.h"
#include "program/format/records.h"

namespace edge::compiler::analyze {
namespace {

using PathClass = program::Trace::PathClass;

constexpr std::uint64_t kHostSteps = 50'000'000;
constexpr std::uint64_t kPairSteps = 200'000;

/// Cheap: false only where no path leads to both.
bool may_meet(const TableRule& a, const TableRule& b) {
  const auto under = [](const std::string& path, const std::string& prefix) {
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
  };
  const auto open = [](PathClass path_class) {
    return path_class != PathClass::kExact && path_class != PathClass::kPrefix;
  };
  if (open(a.path_class) || open(b.path_class)) return true;
  if (a.path_class == PathClass::kExact && b.path_class == PathClass::kExact) return a.path == b.path;
  return (b.path_class == PathClass::kPrefix && under(a.path, b.path)) ||
         (a.path_class == PathClass::kPrefix && under(b.path, a.path));
}

using Routes = std::unordered_map<std::string, const LinkedRoute*>;  ///< by namespace/name

class HostNotes {
 public:
  HostNotes(const Routes& routes, const program::Section& host, Witness base, Diagnostics& diagnostics)
      : routes_(routes), host_(host), base_(std::move(base)), diagnostics_(diagnostics), rules_(space_, host) {}

  void run() {
    const std::vector<TableRule> all = rules_.rules();
    Effort effort(kHostSteps);
    for (std::size_t later = 1; later < all.size(); ++later) {
      std::set<std::uint32_t> reported;
      for (std::size_t earlier = 0; earlier < later; ++earlier) {
        if (!may_meet(all[later], all[earlier])) continue;
        if (effort.left() == 0) return give_up();
        compare(all[later], all[earlier], effort, reported);
      }
    }
  }

 private:
  void compare(const TableRule& rule, const TableRule& earlier, Effort& effort, std::set<std::uint32_t>& reported) {
    if (reported.contains(earlier.action)) return;
    const Set with_path = space_.where({Subject::Kind::kPath}, Test::kBelow);
    Effort pair(std::min(effort.left(), kPairSteps));
    const std::uint64_t before = pair.left();
    Finding finding = space_.find(space_.all_of({with_path, rules_.matches(rule), rules_.matches(earlier)}), pair);
    effort.spend(before - pair.left());
    if (finding.state != Finding::State::kFound) return;
    finding.request->host = base_.host;
    finding.request->port = base_.port;
    const WitnessView view(*finding.request);
    const std::optional<TableRule> taker = rules_.taker(view.view(), regex_);
    if (taker && !taker->same_match(rule) && reported.insert(taker->action).second)
      note(rule, *taker, *finding.request);
  }

  struct Origin {
    const LinkedRoute* route;
    std::string text;  ///< `namespace/name rules[0].matches[0]`
    std::string field;
    Span span;
  };

  Origin origin_of(std::uint32_t action) const {
    const auto& header = host_.view.header<program::HostHeader>();
    const program::ActionRecord& record = host_.view.array(header.actions)[action];
    const program::RouteRecord& route = host_.view.array(header.routes)[record.route];
    const std::string name =
        std::string(program::name_space_of(host_.view, route)) + "/" + std::string(host_.view.string(route.name));
    const std::string position =
        "rules[" + std::to_string(record.rule) + "].matches[" + std::to_string(record.match) + "]";
    Origin origin{nullptr, name + " " + position, "spec." + position, {}};
    const auto found = routes_.find(name);
    if (found == routes_.end() || record.rule >= found->second->rules.size()) return origin;
    origin.route = found->second;
    const LinkedRule& rule = origin.route->rules[record.rule];
    origin.span = record.match < rule.matches.size() ? rule.matches[record.match].span : rule.span;
    if (!origin.span.somewhere()) origin.span = rule.span.somewhere() ? rule.span : origin.route->identity.span;
    return origin;
  }

  void note(const TableRule& rule, const TableRule& taker, const Witness& request) {
    const Origin own = origin_of(rule.action);
    const Origin other = origin_of(taker.action);
    Diagnostic diagnostic{.code = DiagnosticCode::kPartlyShadowed};
    diagnostic.severity = Severity::kNote;
    if (own.route != nullptr) diagnostic.resource = own.route->identity.text();
    diagnostic.field = own.field;
    diagnostic.span = own.span;
    diagnostic.message = "some requests of this rule go to " + other.text + " on " + host_name();
    if (other.span.somewhere() && other.span != own.span)
      diagnostic.labels.push_back({other.span, "this rule takes them"});
    diagnostic.notes.push_back("`" + witness_text(request) + "` is one");
    diagnostics_.add(std::move(diagnostic));
  }

  void give_up() {
    Diagnostic diagnostic{.code = DiagnosticCode::kPartlyShadowed};
    diagnostic.severity = Severity::kNote;
    diagnostic.message = "the rules of " + host_name() + " are too many to compare them all two by two";
    diagnostics_.add(std::move(diagnostic));
  }

  std::string host_name() const {
    const std::string_view pattern = host_.view.string(host_.view.header<program::HostHeader>().pattern);
    return pattern.empty() ? "any host" : "host `" + std::string(pattern) + "`";
  }

  const Routes& routes_;
  const program::Section& host_;
  Witness base_;
  Diagnostics& diagnostics_;
  program::RegexMatcher regex_ = expr::regex_matcher();
  Space space_;
  HostRules rules_;
};

/// Host and port of requests that reach a host section.
Witness base_of(const LinkedConfig& config, std::string_view gateway, std::string_view listener,
                std::string_view pattern) {
  Witness base;
  HostPattern host = HostPattern::parse(pattern).value_or(HostPattern());
  for (const LinkedListener& linked : config.listeners) {
    const Identity& identity = config.gateways[linked.gateway].identity;
    if (linked.name != listener || identity.name_space + "/" + identity.name != gateway) continue;
    base.port = linked.port;
    if (host.any() && !linked.hostnames.empty()) host = linked.hostnames.front().value;
    break;
  }
  base.host = host.any() ? "any.example" : (host.wildcard() ? "w." : "") + std::string(host.domain());
  return base;
}

}  // namespace

void note_partly_shadowed(const LinkedConfig& config, const program::ProgramView& program, Diagnostics& diagnostics) {
  Routes routes;
  for (const LinkedRoute& route : config.routes) {
    routes.emplace(route.identity.name_space + "/" + route.identity.name, &route);
  }
  const program::SectionView& section = program.listeners().view;
  const auto& header = section.header<program::ListenersHeader>();
  for (const program::ListenerRecord& listener : section.array(header.listeners)) {
    const program::GatewayRecord& record = section.array(header.gateways)[listener.gateway];
    const std::string gateway =
        std::string(section.string(record.name_space)) + "/" + std::string(section.string(record.name));
    for (const program::HostEntry& entry : section.array(listener.host_entries)) {
      const program::Section& host = *program.find(program::SectionKind::kHost, entry.host_id);
      Witness base = base_of(config, gateway, section.string(listener.name), section.string(entry.pattern));
      HostNotes(routes, host, std::move(base), diagnostics).run();
    }
  }
}

}  // namespace edge::compiler::analyze
