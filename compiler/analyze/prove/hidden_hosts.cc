#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

using program::kNone;

/// Listeners with more patterns than this are passed over: the work grows with their square.
constexpr std::size_t kMostPatterns = 256;

HostPattern pattern_of(std::string_view text) { return HostPattern::parse(text).value_or(HostPattern()); }

/// What a bind gives to one listener.
std::vector<HostPattern> claims_of(const program::SectionView& section, const program::BindRecord& bind,
                                   std::uint32_t listener) {
  std::vector<HostPattern> claims;
  for (const program::NameEntry& entry : section.array(bind.listeners.entries)) {
    const std::string name(section.string(entry.name));
    if (entry.exact == listener) claims.push_back(pattern_of(name));
    if (entry.wildcard == listener) claims.push_back(pattern_of("*." + name));
  }
  if (bind.listeners.fallback == listener) claims.emplace_back();
  return claims;
}

bool covers(const HostPattern& wide, const HostPattern& narrow) {
  return HostPattern::intersect(wide, narrow) == std::optional(narrow);
}

/// Whether some name that the listener serves has `host` as its most specific pattern.
bool has_own_names(const HostPattern& host, const std::vector<HostPattern>& claims,
                   const std::vector<HostPattern>& hosts) {
  return std::ranges::any_of(claims, [&](const HostPattern& claim) {
    const auto shared = HostPattern::intersect(claim, host);
    if (!shared) return false;
    return std::ranges::none_of(hosts, [&](const HostPattern& other) {
      return other != host && covers(host, other) && covers(other, *shared);
    });
  });
}

struct Origin {
  std::string text;  ///< `namespace/name rules[0].matches[0]`
  std::string resource;
  std::string field;
  Span span;
  bool implied = false;
};

class ListenerCheck {
 public:
  ListenerCheck(const LinkedConfig& config, const program::ProgramView& program, std::uint32_t bind,
                std::uint32_t listener, Diagnostics& diagnostics)
      : config_(config), program_(program), bind_(bind), listener_(listener), diagnostics_(diagnostics) {}

  void run() {
    const program::SectionView& section = program_.listeners().view;
    const auto& header = section.header<program::ListenersHeader>();
    const auto entries = section.array(section.array(header.listeners)[listener_].host_entries);
    if (entries.size() < 2 || entries.size() > kMostPatterns) return;
    const std::vector<HostPattern> claims = claims_of(section, section.array(header.binds)[bind_], listener_);
    if (claims.empty() || claims.size() > kMostPatterns) return;
    std::vector<HostPattern> hosts;
    for (const program::HostEntry& entry : entries) hosts.push_back(pattern_of(section.string(entry.pattern)));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (has_own_names(hosts[i], claims, hosts)) continue;
      check_host(*program_.find(program::SectionKind::kHost, entries[i].host_id), hosts[i], claims);
    }
  }

 private:
  HostRules& rules(const program::Section& host) {
    auto& known = rules_[host.id];
    if (!known) known = std::make_unique<HostRules>(space_, host);
    return *known;
  }

  void check_host(const program::Section& host, const HostPattern& pattern, const std::vector<HostPattern>& claims) {
    std::vector<Set> names;
    for (const HostPattern& claim : claims) names.push_back(space_.host_in(claim));
    const Set served = space_.all_of({space_.any_of(std::move(names)), space_.host_in(pattern)});
    for (const TableRule& rule : rules(host).rules()) {
      takers_.clear();
      Effort effort(kUsualEffort);
      const Finding finding = space_.find(space_.all_of({served, rules(host).matches(rule)}), effort,
                                          [&](const Witness& request) { return refuse(request, host, rule); });
      if (finding.state != Finding::State::kNone) continue;
      // What rules of its own host hide was proved, and told, where the host was made.
      const auto elsewhere = std::ranges::find_if(takers_, [&](const Taker& taker) { return taker.host != &host; });
      if (elsewhere != takers_.end()) report(host, pattern, rule, *elsewhere);
    }
  }

  struct Taker {
    const program::Section* host;
    std::uint32_t action;
    Witness request;
  };

  std::optional<Set> refuse(const Witness& request, const program::Section& host, const TableRule& rule) {
    const WitnessView view(request);
    const Landing landing = land(program_, bind_, view.view(), regex_);
    const bool reached = landing.host == nullptr || landing.listener != listener_;
    if (reached || (landing.host == &host && landing.rule.same_match(rule))) return std::nullopt;
    takers_.push_back({landing.host, landing.rule.action, request});
    const auto& header = landing.host->view.header<program::HostHeader>();
    return space_.all_of({space_.host_in(pattern_of(landing.host->view.string(header.pattern))),
                          rules(*landing.host).matches(landing.rule)});
  }

  Origin origin_of(const program::Section& host, std::uint32_t action) const {
    const auto& header = host.view.header<program::HostHeader>();
    const program::ActionRecord& record = host.view.array(header.actions)[action];
    const program::RouteRecord& route = host.view.array(header.routes)[record.route];
    const std::string_view space = program::name_space_of(host.view, route);
    const std::string_view name = host.view.string(route.name);
    const std::string position =
        "rules[" + std::to_string(record.rule) + "].matches[" + std::to_string(record.match) + "]";
    Origin origin{std::string(space) + "/" + std::string(name) + " " + position, {}, "spec." + position, {}};
    const auto linked = std::ranges::find_if(config_.routes, [&](const LinkedRoute& candidate) {
      return candidate.identity.name_space == space && candidate.identity.name == name;
    });
    if (linked == config_.routes.end() || record.rule >= linked->rules.size()) return origin;
    const LinkedRule& rule = linked->rules[record.rule];
    origin.resource = linked->identity.text();
    origin.implied = rule.implied;
    origin.span = record.match < rule.matches.size() ? rule.matches[record.match].span : rule.span;
    if (!origin.span.somewhere()) origin.span = rule.span.somewhere() ? rule.span : linked->identity.span;
    return origin;
  }

  void report(const program::Section& host, const HostPattern& pattern, const TableRule& rule, Taker& first) {
    const Origin own = origin_of(host, rule.action);
    if (own.implied) return;
    first.request.port =
        program_.listeners().view.array(program_.listeners().view.header<program::ListenersHeader>().binds)[bind_].port;
    const Origin winner = origin_of(*first.host, first.action);
    Diagnostic diagnostic{.code = DiagnosticCode::kUnreachableRule};
    diagnostic.severity = Severity::kWarning;
    diagnostic.resource = own.resource;
    diagnostic.field = own.field;
    diagnostic.span = own.span;
    diagnostic.message = "no request reaches this rule on " +
                         (pattern.any() ? std::string("any host") : "host `" + pattern.text() + "`") + ": " +
                         winner.text + (takers_.size() > 1 ? " and others take" : " takes") +
                         " its requests on more specific hosts";
    if (winner.span.somewhere() && winner.span != own.span) {
      diagnostic.labels.push_back({winner.span, "this rule takes some of its requests"});
    }
    diagnostic.notes.push_back("`" + witness_text(first.request) + "` goes to the other rule");
    diagnostic.notes.emplace_back("every name that the listener serves belongs to a more specific host");
    diagnostics_.add(std::move(diagnostic));
  }

  const LinkedConfig& config_;
  const program::ProgramView& program_;
  const std::uint32_t bind_;
  const std::uint32_t listener_;
  Diagnostics& diagnostics_;
  program::RegexMatcher regex_ = expr::regex_matcher();
  Space space_;
  std::unordered_map<std::uint64_t, std::unique_ptr<HostRules>> rules_;
  std::vector<Taker> takers_;
};

}  // namespace

void report_hidden_by_hosts(const LinkedConfig& config, const program::ProgramView& program, Diagnostics& diagnostics) {
  const program::SectionView& section = program.listeners().view;
  const auto& header = section.header<program::ListenersHeader>();
  std::vector<bool> reported(header.listeners.count, false);
  for (std::uint32_t bind = 0; bind < header.binds.count; ++bind) {
    const program::Protocol protocol = section.array(header.binds)[bind].protocol;
    if (protocol != program::Protocol::kHttp && protocol != program::Protocol::kHttps) continue;
    // Of a listener on several addresses one tells: each gives it the same names, or fewer.
    for (std::uint32_t listener = 0; listener < header.listeners.count; ++listener) {
      if (reported[listener] || claims_of(section, section.array(header.binds)[bind], listener).empty()) continue;
      reported[listener] = true;
      ListenerCheck(config, program, bind, listener, diagnostics).run();
    }
  }
}

}  // namespace edge::compiler::analyze
