#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/os/file.h"
#include "base/text/json.h"
#include "cli/terminal.h"
#include "compiler/analyze/claims/claim.h"
#include "compiler/analyze/explain/explain.h"
#include "edgectl/cluster_config.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/input.h"
#include "edgectl/reports/claim_lines.h"
#include "edgectl/reports/diagnostics_output.h"
#include "edgectl/resources/output.h"
#include "edgectl/shared_flags.h"

namespace edge::edgectl {
namespace {

namespace analyze = compiler::analyze;
namespace expr = compiler::expr;

constexpr std::string_view kAssert = "edgectl assert";
/// More than anyone writes.
constexpr std::size_t kMaxClaims = 1'000;

struct Claim {
  std::string text;
  Span span;  ///< of the text in its source
};

Result<std::vector<Claim>> read_claims(const cli::Arguments& arguments, SourceMap& sources) {
  std::vector<Claim> claims;
  for (const char* const name : {"CLAIM", "claim"}) {
    for (const std::string& text : arguments.all(name)) {
      const std::uint32_t source = sources.add("claim", text);
      claims.push_back({text, {source, 0, static_cast<std::uint32_t>(text.size())}});
    }
  }
  for (const std::string& path : arguments.all("claims")) {
    auto text = read_file(path, kMaxClaimFile);
    if (!text) return text.error();
    const std::uint32_t source = sources.add(path, std::move(*text));
    for (ClaimLine& line : claim_lines(sources[source].text())) {
      const auto end = static_cast<std::uint32_t>(line.begin + line.text.size());
      claims.push_back({std::move(line.text), {source, line.begin, end}});
    }
  }
  if (claims.empty())
    return Error{ErrorCode::kInvalidArgument, "there is no claim: write one, or name a file by --claims"};
  if (claims.size() > kMaxClaims) {
    return Error{ErrorCode::kInvalidArgument, "more than " + std::to_string(kMaxClaims) + " claims at a time"};
  }
  return claims;
}

/// The claims as trees; those that cannot be read are told in `diagnostics`.
std::vector<expr::Expression> parse_claims(const std::vector<Claim>& claims, Diagnostics& diagnostics) {
  std::vector<expr::Expression> parsed;
  for (const Claim& claim : claims) {
    expr::ParsedExpression result = expr::parse_claim(claim.text, analyze::policy_types());
    if (result.expression) {
      parsed.push_back(std::move(*result.expression));
      continue;
    }
    Diagnostic diagnostic{.code = DiagnosticCode::kClaimSyntax};
    diagnostic.span = {claim.span.source, claim.span.begin + result.fault->begin, claim.span.begin + result.fault->end};
    diagnostic.message = result.fault->message;
    diagnostic.fix = result.fault->fix;
    diagnostics.add(std::move(diagnostic));
  }
  return parsed;
}

std::string indented(std::string_view text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    result.append("  ").append(text.substr(begin, end - begin)).append("\n");
    begin = end + 1;
  }
  return result;
}

std::string result_text(const Claim& claim, const analyze::ClaimResult& result, const program::ProgramView& program) {
  switch (result.state) {
    case analyze::ClaimResult::State::kHolds:
      return "holds        " + claim.text + "\n";
    case analyze::ClaimResult::State::kNotDecided:
      return "not decided  " + claim.text + "\n  " + result.reason + "; so it is for " +
             std::to_string(result.undecided) + " of the rules\n";
    case analyze::ClaimResult::State::kFails:
      break;
  }
  std::string text = "fails        " + claim.text + "\n  by: " + witness_text(*result.request) + "\n";
  if (!result.backend.empty()) text += "  it may go to " + result.backend + "\n";
  const analyze::WitnessView view(*result.request);
  return text + indented(explanation_text(analyze::explain(program, result.bind, view.view()), false));
}

nlohmann::ordered_json result_json(const Claim& claim, const analyze::ClaimResult& result) {
  using State = analyze::ClaimResult::State;
  nlohmann::ordered_json json = {{"claim", claim.text},
                                 {"result", result.state == State::kHolds        ? "holds"
                                            : result.state == State::kNotDecided ? "notDecided"
                                                                                 : "fails"}};
  if (result.request) json["request"] = analyze::witness_text(*result.request);
  if (!result.backend.empty()) json["backend"] = result.backend;
  if (!result.reason.empty()) json["reason"] = result.reason;
  return json;
}

int assert_claims(const cli::Arguments& arguments) {
  SourceMap texts;
  const auto claims = read_claims(arguments, texts);
  if (!claims) return usage(kAssert, claims.error().text);
  Diagnostics faults;
  const std::vector<expr::Expression> parsed = parse_claims(*claims, faults);
  faults.finish(texts);
  if (!faults.ok()) {
    cli::write_text(stderr, errors_text(faults, texts, cli::colour_for(stderr)));
    return cli::kExitUsage;
  }

  int exit = cli::kExitOk;
  const auto input = program_of_paths_or_edge(kAssert, arguments, paths_of(arguments),
                                              compiling_for(program::Target::kTablesOnly, arguments), exit);
  if (!input) return exit;
  analyze::ClaimCheck check(input->view);
  bool all_hold = true;
  std::string text;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < parsed.size(); ++i) {
    const analyze::ClaimResult result = check.check(parsed[i]);
    all_hold &= result.state == analyze::ClaimResult::State::kHolds;
    text += result_text((*claims)[i], result, input->view);
    list.push_back(result_json((*claims)[i], result));
  }
  const bool written =
      cli::write_text(stdout, wants_data(arguments) ? data_text(arguments, indented_json(list)) : text);
  if (input->faults) failed(kAssert, "the configuration has errors; what is at fault takes no part above");
  return all_hold && written && !input->faults ? cli::kExitOk : cli::kExitFindings;
}

}  // namespace

cli::Command assert_command() {
  return {
      .name = "assert",
      .group = kFilesGroup,
      .summary = "Prove claims about all requests, or show a counterexample",
      .details =
          "A claim is an expression as in routes that may also use `host`, `gateway`, `listener`, `route`, `backend`, "
          "`policy`, `status` and `denied`; `A implies B` joins two. It is proved when no request violates it.",
      .flags = {file_flag(kFilesOrProgram, /*required=*/false),
                controller_class_flag(),
                {.name = "claim", .letter = 'c', .value = "CLAIM", .help = "Further claim", .repeatable = true},
                {.name = "claims",
                 .value = "FILE",
                 .help = "File with one claim per line; `#` starts a comment",
                 .repeatable = true},
                form_flag({"text", "json", "yaml"})},
      .positional = cli::Positional{.name = "CLAIM", .help = "Claim to prove", .required = false},
      .second = paths_argument(kPathsOrEdge),
      .examples = {"edgectl assert -f config/ 'path prefix \"/admin\" implies policy OIDC'",
                   "edgectl assert -f config/ --claims claims.txt"},
      .run = assert_claims,
      .global = true};
}

}  // namespace edge::edgectl
