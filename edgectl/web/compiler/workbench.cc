#include "edgectl/web/compiler/workbench.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/diagnostics.h"
#include "base/text/json.h"
#include "compiler/analyze/claims/claim.h"
#include "compiler/analyze/diff/diff.h"
#include "compiler/analyze/explain/explain.h"
#include "compiler/analyze/explain/passage.h"
#include "compiler/analyze/space/witness.h"
#include "edgectl/agents/redact.h"
#include "edgectl/reports/explain_report.h"
#include "edgectl/reports/request_line.h"
#include "edgectl/web/compiler/route_cost.h"

namespace edge::edgectl::web {
namespace {

namespace analyze = compiler::analyze;
namespace expr = compiler::expr;
using OrderedJson = nlohmann::ordered_json;

/// Begins the keys of live configurations.
constexpr std::string_view kLive = "live ";

/// Drafts are compiled while somebody types: without native code and databases of patterns.
compiler::CompileOptions quick_options() {
  return {.target = program::Target::kTablesOnly, .databases = compiler::DatabaseTime::kNever};
}

/// What a viewer is told: conditions, filters and messages without credentials.
std::string told(OrderedJson json) {
  redact_explanation(json);
  return json_line(json);
}

/// A constructed request has what rules ask for, credentials too.
std::string request_text(analyze::Witness request) {
  for (auto& [name, value] : request.headers) {
    if (carries_credential(name)) value = kRedacted;
  }
  return analyze::witness_text(request);
}

std::string_view word_of(Severity severity) {
  return severity == Severity::kError ? "error" : severity == Severity::kWarning ? "warning" : "note";
}

/// `from` and `to` are bytes of the draft.
OrderedJson diagnostic_json(const Diagnostic& diagnostic, bool positioned) {
  OrderedJson json = {{"code", code_text(diagnostic.code)},
                      {"severity", word_of(diagnostic.severity)},
                      {"message", diagnostic.message},
                      {"resource", diagnostic.resource},
                      {"field", diagnostic.field},
                      {"notes", diagnostic.notes},
                      {"fix", diagnostic.fix},
                      {"from", nullptr},
                      {"to", nullptr}};
  if (positioned) {
    json["from"] = diagnostic.span.begin;
    json["to"] = diagnostic.span.end;
  }
  return json;
}

std::string identity_of(const Diagnostic& diagnostic) {
  return code_text(diagnostic.code) + " " + diagnostic.resource + " " + diagnostic.field + " " + diagnostic.message;
}

/// What was said of other objects before or after, and is not said on the other side.
OrderedJson difference_json(const Diagnostics& all, const Diagnostics& other, const std::string& except) {
  std::set<std::string> known;
  for (const Diagnostic& one : other.all()) known.insert(identity_of(one));
  OrderedJson list = OrderedJson::array();
  for (const Diagnostic& one : all.all()) {
    if (list.size() == kMostDraftFindings) break;
    if (one.resource != except && one.severity != Severity::kNote && !known.contains(identity_of(one))) {
      list.push_back(diagnostic_json(one, false));
    }
  }
  return list;
}

OrderedJson diff_to_json(const analyze::Diff& diff) {
  OrderedJson classes = OrderedJson::array();
  for (const analyze::DiffClass& changed : diff.classes) {
    if (classes.size() == kMostDiffClasses) break;
    classes.push_back({{"hosts", changed.hosts},
                       {"where", changed.where},
                       {"before", {{"rule", changed.rule_before}, {"treatment", changed.before}}},
                       {"after", {{"rule", changed.rule_after}, {"treatment", changed.after}}},
                       {"request", request_text(changed.request)}});
  }
  OrderedJson settings = OrderedJson::array();
  for (const analyze::SettingChange& change : diff.settings) {
    if (settings.size() == kMostDiffClasses) break;
    settings.push_back({{"setting", change.what}, {"before", change.before}, {"after", change.after}});
  }
  return {
      {"equal", diff.equal()},           {"classes", std::move(classes)},        {"classCount", diff.classes.size()},
      {"settings", std::move(settings)}, {"settingCount", diff.settings.size()}, {"undecided", diff.undecided}};
}

/// The claims as trees, or why they are none.
struct ReadClaim {
  std::string text;
  std::optional<expr::Expression> tree;
  std::string fault;
};

std::vector<ReadClaim> read_claims(const std::vector<std::string>& claims) {
  std::vector<ReadClaim> out;
  for (const std::string& claim : claims) {
    expr::ParsedExpression parsed = expr::parse_claim(claim, analyze::policy_types());
    ReadClaim& one = out.emplace_back();
    one.text = claim;
    one.tree = std::move(parsed.expression);
    if (!parsed.fault) continue;
    one.fault = parsed.fault->message + (parsed.fault->fix.empty() ? "" : ": " + parsed.fault->fix);
  }
  return out;
}

OrderedJson outcome_json(const ReadClaim& claim, analyze::ClaimCheck& check) {
  if (!claim.tree) return {{"result", "invalid"}, {"request", ""}, {"backend", ""}, {"reason", claim.fault}};
  const analyze::ClaimResult result = check.check(*claim.tree);
  using State = analyze::ClaimResult::State;
  const char* word = result.state == State::kHolds ? "holds" : result.state == State::kFails ? "fails" : "notDecided";
  return {{"result", word},
          {"request", result.request ? request_text(*result.request) : std::string()},
          {"backend", result.backend},
          {"reason", result.reason}};
}

}  // namespace

struct Workbench::Made {
  std::optional<program::ProgramView> view;
  Diagnostics diagnostics{};
  bool compiled = false;
};

Workbench::Workbench(std::string controller_class)
    : controller_class_(std::move(controller_class)), compiler_(quick_options()) {}
Workbench::~Workbench() = default;

Result<std::shared_ptr<const Workbench::Made>> Workbench::make(const WorkSide& side) {
  const auto known = std::ranges::find(kept_, side.key, [](const auto& one) { return one.first; });
  if (!side.key.empty() && known != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, known);
    return kept_.front().second;
  }
  std::shared_ptr<const Made> made;
  if (side.program != nullptr) {
    auto view = program::read(side.program);
    if (!view) return view.error();
    const auto read = std::make_shared<Made>();
    read->view = std::move(*view);
    made = read;
  } else {
    auto compiled = compile(*side.sources(), side.group);
    if (!compiled) return compiled.error();
    made = std::move(*compiled);
  }
  if (side.key.empty()) return made;
  // Of the live configuration only the latest is of use.
  if (side.key.starts_with(kLive)) std::erase_if(kept_, [](const auto& one) { return one.first.starts_with(kLive); });
  kept_.emplace_front(side.key, made);
  if (kept_.size() > kKept) kept_.pop_back();
  return made;
}

Result<std::shared_ptr<const Workbench::Made>> Workbench::compile(const SourceMap& sources, const std::string& group) {
  const auto made = std::make_shared<Made>();
  made->compiled = true;
  compiler::LinkedConfig config = compiler::read_config(sources, made->diagnostics, controller_class_);
  if (!group.empty()) config = compiler::config_of_group(config, group);
  if (const auto artifact = compiler_.compile(config, made->diagnostics)) {
    auto view = program::read(artifact->bytes);
    if (!view) return view.error();
    made->view = std::move(*view);
  }
  made->diagnostics.finish(sources);
  return std::shared_ptr<const Made>(made);
}

bool Workbench::has(const std::string& key) const {
  return std::ranges::find(kept_, key, [](const auto& one) { return one.first; }) != kept_.end();
}

namespace {

const Error kNoProgram{ErrorCode::kFailedPrecondition, "no program could be compiled: see `edgectl validate`"};

/// The diagnostics of a draft, and what it changes for other objects.
OrderedJson findings_json(const Diagnostics& before, const Diagnostics& after, const std::string& resource) {
  OrderedJson own = OrderedJson::array();
  std::size_t errors = 0;
  for (const Diagnostic& one : after.all()) {
    const bool in_draft = one.span.somewhere() ? one.span.source == 0 : one.resource == resource;
    if (!in_draft) continue;
    errors += one.severity == Severity::kError ? 1U : 0U;
    if (own.size() < kMostDraftFindings) own.push_back(diagnostic_json(one, one.span.somewhere()));
  }
  return {{"diagnostics", std::move(own)},
          {"errors", errors},
          {"brought", difference_json(after, before, resource)},
          {"solved", difference_json(before, after, resource)}};
}

}  // namespace

Result<std::string> Workbench::check(const WorkSide& live, const WorkSide& draft) {
  const auto before = make(live);
  if (!before) return before.error();
  const auto after = make(draft);
  if (!after) return after.error();
  return told(findings_json((*before)->diagnostics, (*after)->diagnostics, draft.resource));
}

Result<std::string> Workbench::compare(const WorkSide& before, const WorkSide& after,
                                       const std::vector<std::string>& claims) {
  const auto old_side = make(before);
  if (!old_side) return old_side.error();
  const auto new_side = make(after);
  if (!new_side) return new_side.error();
  const Made& from = **old_side;
  const Made& to = **new_side;
  if (!from.view || !to.view) return kNoProgram;
  analyze::ProgramDiff programs(*from.view, *to.view, {});
  OrderedJson json = diff_to_json(programs.run());
  const OrderedJson findings = from.compiled && to.compiled
                                   ? findings_json(from.diagnostics, to.diagnostics, after.resource)
                                   : findings_json(Diagnostics(), Diagnostics(), {});
  for (const auto& [name, value] : findings.items()) json[name] = value;
  OrderedJson proven = OrderedJson::array();
  if (!claims.empty()) {
    analyze::ClaimCheck was(*from.view);
    analyze::ClaimCheck is(*to.view);
    for (const ReadClaim& claim : read_claims(claims)) {
      proven.push_back(
          {{"claim", claim.text}, {"before", outcome_json(claim, was)}, {"after", outcome_json(claim, is)}});
    }
  }
  json["claims"] = std::move(proven);
  return told(std::move(json));
}

Result<std::string> Workbench::prove(const WorkSide& side, const std::vector<std::string>& claims) {
  const auto made = make(side);
  if (!made) return made.error();
  if (!(*made)->view) return kNoProgram;
  analyze::ClaimCheck check(*(*made)->view);
  OrderedJson proven = OrderedJson::array();
  for (const ReadClaim& claim : read_claims(claims)) {
    proven.push_back({{"claim", claim.text}, {"outcome", outcome_json(claim, check)}});
  }
  return told(OrderedJson{{"claims", std::move(proven)}});
}

Result<std::string> Workbench::analyse(const WorkSide& live, const std::string& kind, const std::string& name) {
  const auto made = make(live);
  if (!made) return made.error();
  const std::string resource = kind + " " + name;
  OrderedJson findings = OrderedJson::array();
  for (const Diagnostic& one : (*made)->diagnostics.all()) {
    if (one.resource == resource && findings.size() < kMostDraftFindings)
      findings.push_back(diagnostic_json(one, false));
  }
  OrderedJson cost = OrderedJson::array();
  if ((*made)->view)
    cost = cost_json(*(*made)->view, kind.ends_with("Gateway") ? CostOf::kGateway : CostOf::kRoute, name);
  return told(OrderedJson{{"findings", std::move(findings)}, {"cost", std::move(cost)}});
}

Result<std::string> Workbench::explain(const WorkSide& side, const ExplainRequest& request) {
  const auto made = make(side);
  if (!made) return made.error();
  if (!(*made)->view) return kNoProgram;
  const program::ProgramView& program = *(*made)->view;
  const auto typed = parse_request(request.request, request.headers, request.claims, request.source);
  if (!typed) return typed.error();
  const bool written = typed->port_written || request.port != 0;
  const auto bind = analyze::bind_of_port(program, request.port != 0 ? request.port : typed->request.port, written);
  if (!bind) return Error{ErrorCode::kInvalidArgument, bind.error().text};
  const analyze::WitnessView view(typed->request);
  return told(explanation_json(analyze::explain(program, *bind, view.view())));
}

}  // namespace edge::edgectl::web
