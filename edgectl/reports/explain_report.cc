#include "edgectl/reports/explain_report.h"

#include <optional>

#include <nlohmann/json.hpp>

namespace edge::edgectl {
namespace {

namespace analyze = compiler::analyze;
using OrderedJson = nlohmann::ordered_json;

const char* match_result_text(analyze::ExplainedRule::MatchResult match_result) {
  using MatchResult = analyze::ExplainedRule::MatchResult;
  switch (match_result) {
    case MatchResult::kWon:
      return "won";
    case MatchResult::kFailed:
      return "failed";
    case MatchResult::kNotTried:
      return "not-tried";
    case MatchResult::kOtherPath:
      break;
  }
  return "other-path";
}

const char* state_text(analyze::ExplainedEngine::State state) {
  using State = analyze::ExplainedEngine::State;
  switch (state) {
    case State::kAgrees:
      return "agrees";
    case State::kDisagrees:
      return "disagrees";
    case State::kNotNeeded:
      return "not-needed";
    case State::kNotRun:
      break;
  }
  return "not-run";
}

OrderedJson rule_json(const analyze::ExplainedRule& rule) {
  return {{"verdict", match_result_text(rule.match_result)},
          {"where", rule.where},
          {"route", rule.route},
          {"rule", rule.rule},
          {"match", rule.match},
          {"condition", rule.condition},
          {"failed", rule.failed},
          {"actual", rule.actual}};
}

const char* answer_text(analyze::ExplainedHandshake::Answer answer) {
  using Answer = analyze::ExplainedHandshake::Answer;
  switch (answer) {
    case Answer::kCertificate:
      return "certificate";
    case Answer::kOrdered:
      return "ordered";
    case Answer::kOnDemand:
      return "on-demand";
    case Answer::kAsked:
      return "asked";
    case Answer::kUnknown:
      return "unknown";
    case Answer::kRefused:
      break;
  }
  return "refused";
}

OrderedJson handshake_json(const analyze::ExplainedHandshake& handshake) {
  OrderedJson document = {{"answer", answer_text(handshake.answer)},
                          {"serverName", handshake.server_name},
                          {"certificates", handshake.certificates}};
  if (!handshake.pattern.empty()) document["pattern"] = handshake.pattern;
  if (!handshake.ask_url.empty()) document["askURL"] = handshake.ask_url;
  if (!handshake.alert.empty()) document["alert"] = handshake.alert;
  document["text"] = handshake.text;
  return document;
}

OrderedJson redirect_json(const std::optional<analyze::ExplainedRedirect>& redirect) {
  if (!redirect) return nullptr;
  return {{"status", redirect->status},
          {"location", redirect->location},
          {"by", redirect->of_listener ? "redirectScheme" : "filter"}};
}

}  // namespace

nlohmann::ordered_json explanation_json(const analyze::Explanation& explanation) {
  OrderedJson hosts = OrderedJson::array();
  for (const analyze::ExplainedHost& host : explanation.hosts) {
    OrderedJson rules = OrderedJson::array();
    for (const analyze::ExplainedRule& rule : host.rules) rules.push_back(rule_json(rule));
    hosts.push_back({{"pattern", host.pattern}, {"tried", host.tried}, {"rules", rules}});
  }
  OrderedJson backends = OrderedJson::array();
  for (const analyze::ExplainedBackend& backend : explanation.backends) {
    backends.push_back({{"name", backend.name}, {"weight", backend.weight}, {"canary", backend.canary}});
    if (backend.filters) backends.back()["filters"] = *backend.filters;
    if (!backend.clusters.empty()) backends.back()["clusters"] = backend.clusters;
  }
  OrderedJson engines = OrderedJson::array();
  for (const analyze::ExplainedEngine& engine : explanation.engines) {
    engines.push_back({{"name", engine.name}, {"state", state_text(engine.state)}, {"note", engine.note}});
  }
  OrderedJson document = {{"request", explanation.request},
                          {"bind", explanation.bind},
                          {"listener", explanation.listener},
                          {"gateway", explanation.gateway},
                          {"hosts", hosts},
                          {"matched", explanation.matched},
                          {"winner", explanation.matched ? rule_json(explanation.winner) : OrderedJson(nullptr)},
                          {"policies", explanation.policies},
                          {"limits", explanation.limits},
                          {"filters", explanation.filters},
                          {"backends", backends},
                          {"redirect", redirect_json(explanation.redirect)},
                          {"pathRefused", explanation.path_refused},
                          {"denied", explanation.denied},
                          {"engines", engines},
                          {"agree", explanation.agree}};
  if (!explanation.clients.empty()) document["clients"] = explanation.clients;
  if (explanation.handshake) document["handshake"] = handshake_json(*explanation.handshake);
  if (!explanation.token_policy.empty()) document["tokenPolicy"] = explanation.token_policy;
  return document;
}

}  // namespace edge::edgectl
