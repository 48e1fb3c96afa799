#include "compiler/analyze/explain/explain.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "compiler/analyze/explain/explain_engines.h"
#include "compiler/analyze/explain/explain_words.h"
#include "compiler/analyze/explain/passage.h"
#include "compiler/analyze/explain/treatment.h"
#include "compiler/expr/regex_matcher.h"
#include "program/dump/dump.h"
#include "program/evaluate/evaluate.h"
#include "program/evaluate/path_rules.h"
#include "program/evaluate/path_table.h"
#include "program/format/records.h"

namespace edge::compiler::analyze {
namespace {

using program::kActionBit;
using program::kNone;
using PathClass = program::Trace::PathClass;

/// Records the interpreter's events, in order.
class Recorder : public program::Trace {
 public:
  struct Step {
    const program::Section* host;
    PathClass path_class;
    std::string path;
    std::uint32_t candidate;
    std::uint32_t action;
    std::uint32_t failed;
  };
  /// A rule's place: a candidate of a group, or, without conditions, an action right behind a path.
  using PathKey = std::tuple<std::uint64_t, PathClass, std::string, std::uint32_t>;

  void host(const program::Section& host) override { hosts.push_back(&host); }
  void path(PathClass path_class, std::string_view path) override {
    path_class_ = path_class;
    path_ = path;
  }
  void candidate(const program::Section& host, std::uint32_t candidate, std::uint32_t action,
                 std::uint32_t failed) override {
    steps.push_back({&host, path_class_, path_, candidate, action, failed});
    seen.emplace(host.id, path_class_, path_, candidate);
  }

  std::vector<const program::Section*> hosts;
  std::vector<Step> steps;
  std::set<PathKey> seen;

 private:
  PathClass path_class_ = PathClass::kAny;
  std::string path_;
};

std::string where_text(PathClass path_class, std::string_view path) {
  switch (path_class) {
    case PathClass::kExact:
      return "exact " + std::string(path);
    case PathClass::kPrefix:
      return "prefix " + std::string(path.empty() ? "/" : path);
    case PathClass::kEarlyRegex:
    case PathClass::kRegex:
      return "regex";
    case PathClass::kAny:
      break;
  }
  return "any path";
}

/// Whole segments: `/api` covers `/api`, `/api/` and `/api/x`, never `/apiv2`.
bool path_fits(PathClass path_class, std::string_view key, std::string_view path) {
  if (path_class == PathClass::kExact) return path == key;
  if (path_class != PathClass::kPrefix) return true;
  if (key == "/" || key.empty()) return path.starts_with('/');
  return path.starts_with(key) && (path.size() == key.size() || path[key.size()] == '/');
}

std::optional<ExplainedRedirect> redirect_of(Passage passage) {
  if (passage.location.empty()) return std::nullopt;
  return ExplainedRedirect{passage.status, std::move(passage.location), passage.reason == "scheme-redirect"};
}

class Explainer {
 public:
  Explainer(const program::ProgramView& program, const program::RequestView& request,
            std::optional<std::string_view> body)
      : program_(program), request_(request), body_(body), regex_(expr::regex_matcher()) {}

  void evaluate(std::uint32_t bind, Explanation& out) {
    const program::Evaluation outcome = program::evaluate(program_, bind, request_, regex_, &recorder_);
    if (outcome.listener == kNone) return;
    const program::SectionView& section = program_.listeners().view;
    const auto& header = section.header<program::ListenersHeader>();
    const auto& listener = section.array(header.listeners)[outcome.listener];
    const auto& gateway = section.array(header.gateways)[listener.gateway];
    out.listener = section.string(listener.name);
    out.gateway = std::string(section.string(gateway.name_space)) + "/" + std::string(section.string(gateway.name));
    out.clients = clients_text(program::optional_of(section, listener.tls));
    const program::SectionView& policies = program_.policies().view;
    if (const auto* const claims = program::find_listener_claims(policies, outcome.listener)) {
      const program::PolicyRecord& policy = *program::find_policy(policies, claims->policy);
      out.token_policy =
          std::string(policies.string(policy.name_space)) + "/" + std::string(policies.string(policy.name));
    }
    out.redirect = redirect_of(pass(program_, bind, request_, regex_));
    if (out.redirect && out.redirect->of_listener) return;
    for (const program::Section* host : recorder_.hosts) out.hosts.push_back(explained_host(*host, true));
    append_untried(section, listener, out);
    if (outcome.host != nullptr) return take_winner(outcome, listener.max_request_body, out);
    out.policies = policy_verdicts_without_route(program_, outcome.listener, request_, body_);
    const program::NoRouteRecord* const none = program::find_no_route(program_.policies().view, outcome.listener);
    out.denied = none != nullptr && none->denied != 0;
  }

  const std::vector<const program::Section*>& hosts() const { return recorder_.hosts; }
  const program::RegexMatcher& regex() const { return regex_; }

 private:
  ExplainedHost explained_host(const program::Section& host, bool tried) {
    ExplainedHost out;
    const auto& header = host.view.header<program::HostHeader>();
    const std::string_view pattern = host.view.string(header.pattern);
    out.pattern = pattern.empty() ? "*" : pattern;
    out.tried = tried;
    if (!tried) return out;
    const program::SlotValues values(host, request_, regex_);
    for (const Recorder::Step& step : recorder_.steps) {
      if (step.host != &host) continue;
      ExplainedRule rule = rule_of(host, step.path_class, step.path, step.candidate, step.action);
      rule.match_result = step.failed == kNone ? ExplainedRule::MatchResult::kWon : ExplainedRule::MatchResult::kFailed;
      if (step.failed != kNone) {
        rule.failed = program::predicate_text(host.view, step.failed);
        rule.actual = actual_text(host.view, step.failed, values.input());
      }
      out.rules.push_back(std::move(rule));
    }
    append_others(host, header, out);
    return out;
  }

  /// Every rule of the host that was not looked at.
  void append_others(const program::Section& host, const program::HostHeader& header, ExplainedHost& out) {
    for (const program::Path& path : program::paths_of(host.view)) {
      append_target(host, PathClass::kExact, path.text, path.exact, out);
      append_target(host, PathClass::kPrefix, path.text, path.prefix, out);
    }
    append_target(host, PathClass::kEarlyRegex, {}, header.early_regex, out);
    append_target(host, PathClass::kPrefix, "/", header.root_prefix, out);
    append_target(host, PathClass::kRegex, {}, header.regex, out);
    append_target(host, PathClass::kAny, {}, header.any_path, out);
  }

  void append_target(const program::Section& host, PathClass path_class, std::string_view path,
                     program::Target32 target, ExplainedHost& out) {
    if (target == kNone) return;
    const auto append = [&](std::uint32_t candidate, std::uint32_t action) {
      if (recorder_.seen.contains({host.id, path_class, std::string(path), candidate})) return;
      ExplainedRule rule = rule_of(host, path_class, path, candidate, action);
      rule.match_result = path_fits(path_class, path, request_.path) ? ExplainedRule::MatchResult::kNotTried
                                                                     : ExplainedRule::MatchResult::kOtherPath;
      out.rules.push_back(std::move(rule));
    };
    if ((target & kActionBit) != 0) return append(kNone, target & ~kActionBit);
    const auto& header = host.view.header<program::HostHeader>();
    const program::GroupRecord& group = host.view.array(header.groups)[target];
    const auto candidates = host.view.array(header.candidates);
    for (std::uint32_t i = group.first; i < group.first + group.count; ++i) append(i, candidates[i].action);
  }

  static ExplainedRule rule_of(const program::Section& host, PathClass path_class, std::string_view path,
                               std::uint32_t candidate, std::uint32_t action) {
    const auto& header = host.view.header<program::HostHeader>();
    const program::ActionRecord& record = host.view.array(header.actions)[action];
    const program::RouteRecord& route = host.view.array(header.routes)[record.route];
    ExplainedRule rule;
    rule.where = where_text(path_class, path);
    rule.route =
        std::string(program::name_space_of(host.view, route)) + "/" + std::string(host.view.string(route.name));
    rule.rule = record.rule;
    rule.match = record.match;
    if (candidate != kNone) {
      const std::uint32_t predicate = host.view.array(header.candidates)[candidate].predicate;
      if (predicate != kNone) rule.condition = program::predicate_text(host.view, predicate);
    }
    return rule;
  }

  /// The less specific hosts that would have been asked next.
  void append_untried(const program::SectionView& section, const program::ListenerRecord& listener, Explanation& out) {
    if (recorder_.hosts.empty()) return;
    const auto entries = section.array(listener.host_entries);
    const auto last = std::ranges::find(entries, recorder_.hosts.back()->id, &program::HostEntry::host_id);
    if (last == entries.end()) return;
    for (std::uint32_t at = last->next; at != kNone; at = entries[at].next) {
      const program::Section* const host = program_.find(program::SectionKind::kHost, entries[at].host_id);
      if (host != nullptr) out.hosts.push_back(explained_host(*host, false));
    }
  }

  void take_winner(const program::Evaluation& outcome, std::uint64_t usual_body, Explanation& out) {
    out.matched = true;
    for (const ExplainedHost& host : out.hosts) {
      for (const ExplainedRule& rule : host.rules) {
        if (rule.match_result == ExplainedRule::MatchResult::kWon) out.winner = rule;
      }
    }
    const program::SectionView& host = outcome.host->view;
    const auto& header = host.header<program::HostHeader>();
    const program::ActionRecord& action = host.array(header.actions)[outcome.action];
    const program::TreatmentRecord& treatment = host.array(header.treatments)[action.treatment];
    out.denied = (treatment.flags & program::kDenied) != 0;
    const program::Split split = program::split_of(host, action);
    for (std::uint32_t i = 0; i < split.backends.size(); ++i) {
      const program::BackendRefRecord& backend = split.backends[i];
      out.backends.push_back({.name = backend_name(program_, backend.backend_id()),
                              .weight = backend.weight,
                              .canary = i == split.canary,
                              .clusters = cluster_texts(program_, backend.backend_id())});
      const program::TreatmentRecord& there = program::treatment_record_of(host, action, split, i);
      if (&there != &treatment) out.backends.back().filters = filter_texts(host, there);
    }
    out.policies = policy_verdicts(program_, host, treatment, request_, body_);
    out.limits = limit_texts(program_, host, treatment, usual_body);
    out.filters = filter_texts(host, treatment);
  }

  const program::ProgramView& program_;
  const program::RequestView& request_;
  std::optional<std::string_view> body_;
  program::RegexMatcher regex_;
  Recorder recorder_;
};

}  // namespace

Explanation explain(const program::ProgramView& program, std::uint32_t bind, const program::RequestView& asked,
                    const Handshake* handshake, std::optional<std::string_view> body) {
  Explanation out;
  const program::AdmittedRequest admitted(program, bind, asked);
  const program::RequestView& request = admitted.view();
  out.request = request_text(request);
  out.bind = bind_text(program, bind);
  if (handshake != nullptr) out.handshake = explain_handshake(program, bind, *handshake);
  if (out.handshake && out.handshake->answer == ExplainedHandshake::Answer::kRefused) return out;
  out.path_refused = admitted.refused();
  if (out.path_refused) return out;
  Explainer explainer(program, request, body);
  explainer.evaluate(bind, out);
  out.engines = compare_engines(program.target(), explainer.hosts(), request, explainer.regex(), {});
  out.agree = std::ranges::none_of(
      out.engines, [](const ExplainedEngine& engine) { return engine.state == ExplainedEngine::State::kDisagrees; });
  return out;
}

}  // namespace edge::compiler::analyze
