#include "compiler/analyze/claims/claim.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/analyze/explain/explain_words.h"
#include "compiler/analyze/space/host_rules.h"
#include "compiler/analyze/space/match_set.h"
#include "compiler/analyze/space/space.h"
#include "compiler/expr/regex_matcher.h"
#include "program/dump/policy_type_text.h"
#include "program/dump/route_tree.h"
#include "program/filter_table.h"
#include "program/format/records.h"

namespace edge::compiler::analyze {
namespace {

using expr::Expression;
using expr::Fact;
using program::kNone;
using program::PolicyType;

constexpr std::array kPolicyTypes = {PolicyType::kIpAccess,
                                     PolicyType::kRateLimit,
                                     PolicyType::kConcurrencyLimit,
                                     PolicyType::kBasicAuth,
                                     PolicyType::kApiKey,
                                     PolicyType::kJwt,
                                     PolicyType::kOidc,
                                     PolicyType::kForwardAuth,
                                     PolicyType::kCors,
                                     PolicyType::kSecurityHeaders,
                                     PolicyType::kMaintenance,
                                     PolicyType::kFixedResponse,
                                     PolicyType::kErrorPages,
                                     PolicyType::kClientCertificate,
                                     PolicyType::kRequestFilter};

using TypeSet = std::uint32_t;  ///< bits, by PolicyType
TypeSet bit_of(PolicyType type) { return TypeSet{1} << static_cast<unsigned>(type); }

bool mentions(const Expression& claim, std::initializer_list<Fact> facts) {
  if (claim.kind == Expression::Kind::kFact) return std::ranges::find(facts, claim.fact) != facts.end();
  return std::ranges::any_of(claim.operands, [&](const Expression& operand) { return mentions(operand, facts); });
}

/// Properties shared by all requests that end at one place.
struct End {
  std::string_view gateway = {};
  std::string_view listener = {};
  std::string_view route = {};
  std::string_view backend = {};
  int status = 0;  ///< 0: a backend answers
  bool denied = false;
  TypeSet policies = 0;
  Set requests{};  ///< those that can end here once the rule takes them
};

/// The proxy's own answer of a rule, backends apart; 0: none.
int own_status(const program::ProgramView& program, const program::SectionView& host,
               const program::TreatmentRecord& treatment) {
  if ((treatment.flags & program::kDenied) != 0) return 503;
  if (const int status = status_of_policies(program, host.array(treatment.policies), nullptr); status != 0)
    return status;
  const program::FilterRecord* const answer = program::answer_of(host.array(treatment.filters));
  return answer == nullptr ? 0 : static_cast<int>(program::redirect_status(*answer));
}

/// Names of listeners or hosts with what they lead to.
using Names = std::vector<std::pair<HostPattern, std::uint32_t>>;

Names names_of(const program::SectionView& section, const program::NameTable& table) {
  Names names;
  const auto add = [&](const std::string& text, std::uint32_t target) {
    const auto pattern = HostPattern::parse(text);
    if (target != kNone && pattern) names.emplace_back(*pattern, target);
  };
  for (const program::NameEntry& entry : section.array(table.entries)) {
    const std::string name(section.string(entry.name));
    add(name, entry.exact);
    add("*." + name, entry.wildcard);
  }
  if (table.fallback != kNone) names.emplace_back(HostPattern(), table.fallback);
  return names;
}

/// The hosts that lead to `target`: its names, less the more specific ones of others.
Set hosts_of(Space& space, const Names& names, std::uint32_t target) {
  std::vector<Set> own;
  for (const auto& [pattern, to] : names) {
    if (to != target) continue;
    std::vector<Set> parts = {space.host_in(pattern)};
    for (const auto& [other, elsewhere] : names) {
      const bool inside = HostPattern::intersect(pattern, other) == std::optional(other) && other != pattern;
      if (elsewhere != target && inside) parts.push_back(space.complement(space.host_in(other)));
    }
    own.push_back(space.all_of(std::move(parts)));
  }
  return space.any_of(std::move(own));
}

/// The program, with data that is needed repeatedly.
struct Surroundings {
  explicit Surroundings(const program::ProgramView& view) : program(view), section(view.listeners().view) {}

  /// The types of policy that requests pass.
  TypeSet types_of(std::span<const std::uint64_t> policies) const {
    TypeSet types = 0;
    for (const std::uint64_t id : policies) {
      const program::PolicyRecord* const policy = program::find_policy(program.policies().view, id);
      if (policy != nullptr) types |= bit_of(policy->type);
    }
    return types;
  }

  const program::ProgramView& program;
  const program::SectionView& section;
  program::RegexMatcher regex = expr::regex_matcher();
};

/// Checks one claim against the requests of one bind that match one set of hosts.
class EndCheck {
 public:
  /// `listener`: the one that takes the hosts, kNone where none does.
  EndCheck(const Surroundings& state, const Expression& claim, std::uint32_t bind, std::uint32_t listener,
           ClaimResult& result)
      : program_(state.program),
        regex_(state.regex),
        claim_(claim),
        bind_(bind),
        listener_(listener),
        result_(result),
        port_(state.section.array(state.section.header<program::ListenersHeader>().binds)[bind].port) {}

  Space& space() { return space_; }

  HostRules& rules(const program::Section& host) {
    auto& known = rules_[host.id];
    if (!known) known = std::make_unique<HostRules>(space_, host);
    return *known;
  }

  /// Requests of `from` that `rule` of `host` takes (null: that no rule takes) and that end in `end`. False once the
  /// claim has failed.
  bool check(Set from, const program::Section* host, const TableRule& rule, const End& end) {
    const Set claim = expression_set(space_, claim_, [&](const Expression& fact) { return holds(fact, end); });
    const Set against = space_.all_of({from, end.requests, space_.complement(claim)});
    if (against == space_.nothing()) return true;
    Effort effort(kUsualEffort);
    Finding finding = space_.find(against, effort, [&](const Witness& request) { return refuse(request, host, rule); });
    switch (finding.state) {
      case Finding::State::kNone:
        return true;
      case Finding::State::kNotDecided:
        if (result_.undecided++ == 0) result_.reason = finding.reason;
        return true;
      case Finding::State::kFound:
        break;
    }
    if (std::exchange(astray_, false)) {
      if (result_.undecided++ == 0)
        result_.reason = "the tables do not lead `" + witness_text(*finding.request) + "` on";
      return true;
    }
    result_.state = ClaimResult::State::kFails;
    result_.request = std::move(finding.request);
    result_.request->port = port_;
    result_.bind = bind_;
    result_.backend = end.backend;
    return false;
  }

 private:
  /// What another rule takes does not end here. Which of two rules comes first is the same for all requests of both.
  std::optional<Set> refuse(const Witness& request, const program::Section* host, const TableRule& rule) {
    const WitnessView view(request);
    const Landing landing = land(program_, bind_, view.view(), regex_);
    astray_ = landing.listener != listener_ || (landing.host == nullptr && host != nullptr);
    if (astray_) return std::nullopt;
    if (landing.host == host && (host == nullptr || landing.rule.same_match(rule))) return std::nullopt;
    const auto& header = landing.host->view.header<program::HostHeader>();
    const auto pattern = HostPattern::parse(landing.host->view.string(header.pattern));
    return space_.all_of({space_.host_in(pattern.value_or(HostPattern())), rules(*landing.host).matches(landing.rule)});
  }

  Set holds(const Expression& fact, const End& end) {
    const auto when = [&](bool fulfilled) { return fulfilled ? space_.everything() : space_.nothing(); };
    switch (fact.fact) {
      case Fact::kHost:
        return space_.host_in(HostPattern::parse(fact.value).value_or(HostPattern()));
      case Fact::kGateway:
        return when(end.gateway == fact.value);
      case Fact::kListener:
        return when(end.listener == fact.value);
      case Fact::kRoute:
        return when(end.route == fact.value);
      case Fact::kBackend:
        return when(end.backend == fact.value);
      case Fact::kPolicy:
        return when(std::ranges::any_of(kPolicyTypes, [&](PolicyType type) {
          return program::policy_type_text(type) == fact.value && (end.policies & bit_of(type)) != 0;
        }));
      case Fact::kStatus:
        if (fact.value == "redirect") return when(end.status >= 300 && end.status <= 399);
        return when(std::to_string(end.status) == fact.value);
      case Fact::kDenied:
        break;
    }
    return when(end.denied);
  }

  const program::ProgramView& program_;
  const program::RegexMatcher& regex_;
  const Expression& claim_;
  std::uint32_t bind_;
  std::uint32_t listener_;
  ClaimResult& result_;
  bool astray_ = false;  ///< a request did not end where the tables should have led it
  std::uint16_t port_;
  Space space_;
  std::map<std::uint64_t, std::unique_ptr<HostRules>> rules_;
};

/// The ends of one rule: by backend, where the claim can tell them apart (rule D3).
std::vector<End> ends_of(Space& space, const program::ProgramView& program, const program::SectionView& host,
                         const program::ActionRecord& action, const End& common, bool by_backend,
                         std::vector<std::string>& names) {
  End end = common;
  end.requests = space.everything();
  if (end.status != 0 || !by_backend) return {end};
  const program::Split split = program::split_of(host, action);
  const bool listens = split.canary < split.backends.size();
  const Set canary =
      listens ? space.where({Subject::Kind::kHeader, "x-canary"}, Test::kEquals, "true") : space.nothing();
  std::vector<End> ends;
  names.reserve(split.backends.size());
  for (std::uint32_t i = 0; i < split.backends.size(); ++i) {
    const bool weighted = split.backends[i].weight > 0;
    if (i == split.canary) {
      end.requests = weighted ? space.everything() : canary;
    } else {
      end.requests = weighted ? space.complement(canary) : space.nothing();
    }
    end.backend = names.emplace_back(backend_name(program, split.backends[i].backend_id()));
    end.status =
        end.backend.empty() ? 500 : own_status(program, host, program::treatment_record_of(host, action, split, i));
    if (end.status != 0) end.backend = {};
    ends.push_back(end);
  }
  const bool none = std::ranges::none_of(split.backends, [](const auto& backend) { return backend.weight > 0; });
  if (none) {
    end.backend = {};
    end.status = 500;
    end.requests = split.backends.empty() ? space.everything() : space.complement(canary);
    ends.push_back(end);
  }
  return ends;
}

/// Visits all ends, until the claim is refuted.
class Walk {
 public:
  Walk(Surroundings& state, const Expression& claim)
      : state_(state),
        header_(state.section.header<program::ListenersHeader>()),
        claim_(claim),
        by_backend_(mentions(claim, {Fact::kBackend, Fact::kStatus})),
        of_untaken_(!mentions(claim, {Fact::kPolicy}) ||
                    mentions(claim, {Fact::kStatus, Fact::kBackend, Fact::kRoute, Fact::kDenied})) {}

  ClaimResult run() {
    const auto binds = state_.section.array(header_.binds);
    for (std::uint32_t bind = 0; bind < binds.size(); ++bind) {
      const program::Protocol protocol = binds[bind].protocol;
      const bool http = protocol == program::Protocol::kHttp || protocol == program::Protocol::kHttps;
      if (http && !check_bind(bind, names_of(state_.section, binds[bind].listeners))) return result_;
    }
    if (result_.undecided > 0) result_.state = ClaimResult::State::kNotDecided;
    return result_;
  }

 private:
  /// Like those below: false once the claim has failed.
  bool check_bind(std::uint32_t bind, const Names& names) {
    std::vector<std::uint32_t> listeners;
    for (const auto& [pattern, listener] : names) listeners.push_back(listener);
    std::ranges::sort(listeners);
    listeners.erase(std::ranges::unique(listeners).begin(), listeners.end());
    for (const std::uint32_t listener : listeners) {
      // Beside listeners of HTTPS there may be some of TLS, which see no requests.
      if (state_.section.array(header_.listeners)[listener].protocol == program::Protocol::kTls) continue;
      if (!check_listener(bind, names, listener)) return false;
    }
    return check_untaken(bind, kNone, {}, [&](Space& space) {  // hosts that no listener takes
      std::vector<Set> taken;
      for (const auto& [pattern, listener] : names) taken.push_back(space.host_in(pattern));
      return space.complement(space.any_of(std::move(taken)));
    });
  }

  bool check_listener(std::uint32_t bind, const Names& names, std::uint32_t index) {
    const program::ListenerRecord& listener = state_.section.array(header_.listeners)[index];
    const program::GatewayRecord& record = state_.section.array(header_.gateways)[listener.gateway];
    const std::string gateway =
        std::string(state_.section.string(record.name_space)) + "/" + std::string(state_.section.string(record.name));
    End end;
    end.gateway = gateway;
    end.listener = state_.section.string(listener.name);
    for (const program::HostEntry& entry : state_.section.array(listener.host_entries)) {
      const program::Section& host = *state_.program.find(program::SectionKind::kHost, entry.host_id);
      EndCheck check(state_, claim_, bind, index, result_);
      const HostPattern pattern = HostPattern::parse(state_.section.string(entry.pattern)).value_or(HostPattern());
      const Set hosts = check.space().all_of({hosts_of(check.space(), names, index), check.space().host_in(pattern)});
      if (!check_host(check, hosts, host, end)) return false;
    }
    return check_untaken(bind, index, end, [&](Space& space) { return hosts_of(space, names, index); });
  }

  bool check_host(EndCheck& check, Set hosts, const program::Section& host, const End& of_listener) {
    const program::SectionView& view = host.view;
    const auto& tables = view.header<program::HostHeader>();
    for (const TableRule& rule : check.rules(host).rules()) {
      const program::ActionRecord& action = view.array(tables.actions)[rule.action];
      const program::TreatmentRecord& treatment = view.array(tables.treatments)[action.treatment];
      const program::RouteRecord& route = view.array(tables.routes)[action.route];
      const std::string name =
          std::string(program::name_space_of(view, route)) + "/" + std::string(view.string(route.name));
      End end = of_listener;
      end.route = name;
      end.status = own_status(state_.program, view, treatment);
      end.denied = (treatment.flags & program::kDenied) != 0;
      end.policies = state_.types_of(view.array(treatment.policies));
      const Set from = check.space().all_of({hosts, check.rules(host).matches(rule)});
      std::vector<std::string> backends;
      for (const End& each : ends_of(check.space(), state_.program, view, action, end, by_backend_, backends)) {
        if (!check.check(from, &host, rule, each)) return false;
      }
    }
    return true;
  }

  /// Requests that no rule takes, of the hosts that `hosts_in` gives.
  template <typename HostsIn>
  bool check_untaken(std::uint32_t bind, std::uint32_t listener, End end, HostsIn hosts_in) {
    if (!of_untaken_) return true;
    EndCheck check(state_, claim_, bind, listener, result_);
    end.status = status_without_route(state_.program, listener, nullptr);
    const program::SectionView& policies = state_.program.policies().view;
    if (const program::NoRouteRecord* const none = program::find_no_route(policies, listener)) {
      end.denied = none->denied != 0;
      end.policies = state_.types_of(policies.array(none->policies));
    }
    end.requests = check.space().everything();
    return check.check(hosts_in(check.space()), nullptr, {}, end);
  }

  Surroundings& state_;
  const program::ListenersHeader& header_;
  const Expression& claim_;
  bool by_backend_;
  bool of_untaken_;
  ClaimResult result_;
};

}  // namespace

std::span<const std::string_view> policy_types() {
  static const std::array<std::string_view, kPolicyTypes.size()> names = [] {
    std::array<std::string_view, kPolicyTypes.size()> all;
    std::ranges::transform(kPolicyTypes, all.begin(), program::policy_type_text);
    return all;
  }();
  return names;
}

struct ClaimCheck::State {
  Surroundings surroundings;
};

ClaimCheck::ClaimCheck(const program::ProgramView& program)
    : state_(std::make_unique<State>(State{Surroundings(program)})) {}
ClaimCheck::~ClaimCheck() = default;

ClaimResult ClaimCheck::check(const Expression& claim) { return Walk(state_->surroundings, claim).run(); }

}  // namespace edge::compiler::analyze
