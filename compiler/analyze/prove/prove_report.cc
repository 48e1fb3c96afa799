#include "compiler/analyze/prove/prove_report.h"

#include <map>

#include "compiler/ir/dump.h"

namespace edge::compiler::analyze {
namespace {

constexpr std::string_view kProxyRoute = "ProxyRoute";

/// The match's own place, else the rule's, else the route's name.
Span span_of(const LinkedRoute& route, const ir::Candidate& candidate) {
  const LinkedRule& rule = route.rules[candidate.rule];
  if (rule.matches[candidate.match].span.somewhere()) return rule.matches[candidate.match].span;
  return rule.span.somewhere() ? rule.span : route.identity.span;
}

std::string shadowed_text(const LinkedConfig& config, const Shadowing& first, std::size_t others) {
  const ir::Candidate& loser = first.loser;
  std::string text = "rules[" + std::to_string(loser.rule) + "].matches[" + std::to_string(loser.match) +
                     "] is never reached: " + ir::candidate_text(config, first.winners.front());
  text += first.winners.size() > 1 ? " and others take its requests" : " takes its requests";
  if (first.request) text += ", such as `" + witness_text(*first.request) + "`";
  if (others > 0) text += "; " + std::to_string(others) + " more like it";
  return text;
}

}  // namespace

std::string ProofReport::host_name() const {
  return host_.pattern.any() ? "any host" : "host `" + host_.pattern.text() + "`";
}

Diagnostic ProofReport::about(const ir::Candidate& candidate, DiagnosticCode code, Severity severity) const {
  const LinkedRoute& route = config_.routes[candidate.route];
  Diagnostic diagnostic{.code = code};
  diagnostic.severity = severity;
  diagnostic.resource = route.identity.text();
  diagnostic.field =
      "spec.rules[" + std::to_string(candidate.rule) + "].matches[" + std::to_string(candidate.match) + "]";
  diagnostic.span = span_of(route, candidate);
  return diagnostic;
}

/// How the winner comes to the loser's requests.
std::string ProofReport::why(const Shadowing& shadowing) const {
  if (shadowing.winners.size() > 1) return "and others before it take its requests";
  const ir::Candidate& winner = shadowing.winners.front();
  const PathMatch& ours = path_of(shadowing.loser);
  const PathMatch& theirs = path_of(winner);
  if (ours.type == theirs.type && (ours.type == PathMatch::Type::kRegex || ours.value.value == theirs.value.value)) {
    return "comes first and takes all its requests";
  }
  // Rule D1 is the order of ProxyRoutes; a pattern of another API comes before the prefixes of all (decision 81).
  const bool by_d1 =
      theirs.type != PathMatch::Type::kRegex || config_.routes[winner.route].identity.kind == kProxyRoute;
  const std::string rule = by_d1 ? " (rule D1)" : "";
  if (winner.predicate == ir::kAlways) return "takes every path that could lead to it" + rule;
  return "comes first" + rule + " and takes all its requests";
}

const PathMatch& ProofReport::path_of(const ir::Candidate& candidate) const {
  return config_.routes[candidate.route].rules[candidate.rule].matches[candidate.match].path;
}

void ProofReport::unreachable(const Shadowing& shadowing) {
  const ir::Candidate& winner = shadowing.winners.front();
  const bool pattern = shadowing.winners.size() == 1 && path_of(shadowing.loser).type == PathMatch::Type::kRegex &&
                       winner.predicate == ir::kAlways && path_of(winner).type == PathMatch::Type::kPrefix;
  const DiagnosticCode code = pattern ? DiagnosticCode::kHiddenRegex : DiagnosticCode::kUnreachableRule;
  Diagnostic diagnostic = about(shadowing.loser, code, Severity::kWarning);
  diagnostic.message = "no request reaches this rule on " + host_name() + ": " + ir::candidate_text(config_, winner) +
                       " " + why(shadowing);
  const bool several = shadowing.winners.size() > 1;
  for (const ir::Candidate& taker : shadowing.winners) {
    const Span span = span_of(config_.routes[taker.route], taker);
    if (!span.somewhere() || span == diagnostic.span) continue;
    diagnostic.labels.push_back(
        {span, several ? "this rule takes some of its requests" : "this rule takes its requests"});
  }
  if (pattern) diagnostic.notes.emplace_back("any prefix, `/` too, comes before any pattern (rule D1)");
  if (shadowing.request) {
    diagnostic.notes.push_back("`" + witness_text(*shadowing.request) + "` goes to the other rule");
  }
  if (shadowing.of_server) {
    diagnostic.notes.emplace_back("only `OPTIONS *`, which asks about the server and has no path, still reaches it");
  }
  diagnostics_.add(std::move(diagnostic));
}

void ProofReport::not_decided(const ir::Candidate& candidate, const std::string& reason) {
  Diagnostic diagnostic = about(candidate, DiagnosticCode::kNotDecided, Severity::kNote);
  diagnostic.message = "whether any request reaches this rule on " + host_name() + " was not found out: " + reason;
  diagnostics_.add(std::move(diagnostic));
}

void ProofReport::contradiction(const ir::Candidate& candidate) {
  Diagnostic diagnostic = about(candidate, DiagnosticCode::kContradiction, Severity::kWarning);
  diagnostic.message = "no request reaches this rule on " + host_name() + ": its conditions exclude each other";
  diagnostics_.add(std::move(diagnostic));
}

void ProofReport::disagreement(const ir::Candidate& candidate, const std::string& what,
                               const std::optional<Witness>& request) {
  Diagnostic diagnostic = about(candidate, DiagnosticCode::kEnginesDisagree, Severity::kError);
  diagnostic.message = "the program fails its own proof on " + host_name() + ": " + what;
  if (request) diagnostic.notes.push_back("the request is `" + witness_text(*request) + "`");
  diagnostic.notes.emplace_back("this is a fault of the compiler, not of the configuration; no program was made");
  diagnostics_.add(std::move(diagnostic));
}

void ProofReport::too_large(const std::string& what) {
  Diagnostic diagnostic{.code = DiagnosticCode::kInputTooLarge};
  diagnostic.severity = Severity::kError;
  diagnostic.message = host_name() + " is too large for one program: " + what;
  diagnostics_.add(std::move(diagnostic));
}

std::vector<ResourceStatus> shadow_statuses(const LinkedConfig& config, std::span<const Shadowing> shadowed) {
  std::map<std::uint32_t, std::vector<const Shadowing*>> of_route;
  for (const Shadowing& one : shadowed) of_route[one.loser.route].push_back(&one);
  std::vector<ResourceStatus> statuses;
  for (const auto& [route, rules] : of_route) {
    const Identity& identity = config.routes[route].identity;
    ResourceStatus& status = statuses.emplace_back();
    status.kind = identity.kind;
    status.name_space = identity.name_space;
    status.name = identity.name;
    status.conditions.push_back({std::string(condition::kShadowed), ConditionStatus::kTrue,
                                 std::string(reason::kShadowed),
                                 shadowed_text(config, *rules.front(), rules.size() - 1)});
  }
  return statuses;
}

}  // namespace edge::compiler::analyze
