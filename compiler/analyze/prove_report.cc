#include "compiler/analyze/prove_report.h"

#include "compiler/ir/dump.h"

namespace edge::compiler::analyze {
namespace {

/// The match's own place, else the rule's, else the route's name.
Span span_of(const LinkedRoute& route, const ir::Candidate& candidate) {
  const LinkedRule& rule = route.rules[candidate.rule];
  if (rule.matches[candidate.match].span.somewhere()) return rule.matches[candidate.match].span;
  return rule.span.somewhere() ? rule.span : route.identity.span;
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

void ProofReport::unreachable(const ir::Candidate& loser, const ir::Candidate& winner, const std::string& why,
                              const std::optional<Witness>& example) {
  const PathMatch& path = config_.routes[loser.route].rules[loser.rule].matches[loser.match].path;
  const bool pattern =
      path.type == PathMatch::Type::kRegex && winner.predicate == ir::kAlways &&
      config_.routes[winner.route].rules[winner.rule].matches[winner.match].path.type == PathMatch::Type::kPrefix;
  const DiagnosticCode code = pattern ? DiagnosticCode::kHiddenRegex : DiagnosticCode::kUnreachableRule;
  Diagnostic diagnostic = about(loser, code, Severity::kWarning);
  diagnostic.message =
      "no request reaches this rule on " + host_name() + ": " + ir::candidate_text(config_, winner) + " " + why;
  const Span span = span_of(config_.routes[winner.route], winner);
  if (span.somewhere() && span != diagnostic.span) diagnostic.labels.push_back({span, "this rule takes its requests"});
  if (pattern) diagnostic.notes.emplace_back("any prefix, `/` too, comes before any pattern (rule D1)");
  if (example) diagnostic.notes.push_back("`" + witness_text(*example) + "` goes to the other rule");
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

}  // namespace edge::compiler::analyze
