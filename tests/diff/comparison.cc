#include "tests/diff/comparison.h"

#include <cstring>
#include <set>
#include <tuple>
#include <utility>

#include "tests/reference/treatment.h"

namespace edge::diff {
namespace {

using compiler::LinkedConfig;
using reference::Answer;
using reference::EngineResult;
using reference::Engines;
using reference::OwnedRequest;
using reference::Reference;

compiler::CompileOptions options_for(program::Target target,
                                     compiler::DatabaseTime databases = compiler::DatabaseTime::kBefore) {
  compiler::CompileOptions options;
  options.target = target;
  options.databases = databases;
  return options;
}

std::string describe(const EngineResult& engine_result) {
  if (!engine_result.found()) return engine_result.listener == program::kNone ? "no listener" : "no match";
  return std::string(engine_result.name_space) + "/" + std::string(engine_result.route) + " rules[" +
         std::to_string(engine_result.rule) + "].matches[" + std::to_string(engine_result.match) + "] under host '" +
         std::string(engine_result.host) + "'";
}

std::string describe(const std::optional<Answer>& answer, const LinkedConfig& config) {
  if (!answer) return "no match";
  const compiler::Identity& id = config.routes[answer->route].identity;
  return id.name_space + "/" + id.name + " rules[" + std::to_string(answer->rule) + "].matches[" +
         std::to_string(answer->match) + "]";
}

bool same(const EngineResult& engine_result, const std::optional<Answer>& answer, const LinkedConfig& config) {
  if (engine_result.found() != answer.has_value()) return false;
  if (!answer) return true;
  const compiler::Identity& id = config.routes[answer->route].identity;
  return engine_result.name_space == id.name_space && engine_result.route == id.name &&
         engine_result.rule == answer->rule && engine_result.match == answer->match;
}

reference::Bind bind_of(const program::BindRecord& record) {
  reference::Bind bind{std::nullopt, record.port};
  if (record.any_address == 0) std::memcpy(bind.address.emplace().bytes.data(), record.address, 16);
  return bind;
}

std::string errors_of(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity == Severity::kError) text += "\n  " + diagnostic.resource + ": " + diagnostic.message;
  }
  return text;
}

}  // namespace

Comparison::Comparison()
    : native_(options_for(program::Target::kX8664V2)),
      tables_(options_for(program::Target::kTablesOnly)),
      portable_(options_for(program::Target::kTablesOnly, compiler::DatabaseTime::kNever)) {}

std::optional<Disagreement> Comparison::compile_and_compare(const LinkedConfig& config,
                                                            const std::vector<OwnedRequest>& requests) {
  Diagnostics diagnostics;
  const auto native = native_.compile(config, diagnostics);
  const auto tables = tables_.compile(config, diagnostics);
  const auto portable = portable_.compile(config, diagnostics);
  return compare(config, requests, native, tables, portable, diagnostics);
}

std::optional<Disagreement> Comparison::recompile_and_compare(const LinkedConfig& config, std::uint32_t route,
                                                              const std::vector<OwnedRequest>& requests) {
  Diagnostics diagnostics;
  const auto native = native_.recompile(config, {route}, diagnostics);
  const auto tables = tables_.recompile(config, {route}, diagnostics);
  const auto portable = portable_.recompile(config, {route}, diagnostics);
  return compare(config, requests, native, tables, portable, diagnostics);
}

std::optional<Disagreement> Comparison::compare(const LinkedConfig& config, const std::vector<OwnedRequest>& requests,
                                                const std::optional<compiler::Artifact>& native,
                                                const std::optional<compiler::Artifact>& tables,
                                                const std::optional<compiler::Artifact>& portable,
                                                const Diagnostics& diagnostics) {
  const OwnedRequest none;
  if (!native || !tables || !portable) return Disagreement{none, "no program:" + errors_of(diagnostics)};
  auto fast = Engines::open(native->bytes);
  if (!fast) return Disagreement{none, "the program cannot be loaded: " + fast.error().text};
  auto plain = Engines::open(tables->bytes);
  if (!plain) return Disagreement{none, "the tables cannot be loaded: " + plain.error().text};
  auto no_databases = Engines::open(portable->bytes);
  if (!no_databases)
    return Disagreement{none, "tables without databases cannot be loaded: " + no_databases.error().text};
  const Reference reference(config);
  // What becomes of requests hangs on the rule, the listener and the host that took them: each once.
  std::set<std::tuple<std::uint32_t, std::string, std::uint32_t, std::uint16_t, std::uint16_t>> treated;

  for (const OwnedRequest& request : requests) {
    const reference::RequestViewOf view(request);
    for (std::uint32_t bind = 0; bind < fast->binds().size(); ++bind) {
      const auto expected = reference.answer(bind_of(fast->binds()[bind]), request);
      const EngineResult evaluated = fast->evaluate(bind, view.view());
      const EngineResult decided = fast->decide(bind, view.view());
      const EngineResult interpreted = plain->decide(bind, view.view());
      const EngineResult searched = no_databases->decide(bind, view.view());
      ++evaluations_;
      matched_ += expected ? 1 : 0;
      if (!same(evaluated, expected, config) || decided != evaluated || interpreted != evaluated ||
          searched != evaluated) {
        return Disagreement{request, "reference:             " + describe(expected, config) +
                                         "\nevaluate, RE2:         " + describe(evaluated) +
                                         "\ndecide, native code:   " + describe(decided) + "\ndecide, tables alone:  " +
                                         describe(interpreted) + "\ndecide, no databases:  " + describe(searched) +
                                         "\nbind " + std::to_string(bind) + errors_of(diagnostics)};
      }
      if (!expected) continue;
      const auto [position, is_new] = treated.insert(
          {evaluated.listener, std::string(evaluated.host), expected->route, expected->rule, expected->match});
      if (!is_new) continue;
      ++treatments_;
      const std::string wanted = reference::treatment_of(config, *expected);
      const std::string with_code = fast->treatment(bind, view.view());
      const std::string with_tables = plain->treatment(bind, view.view());
      if (with_code == wanted && with_tables == wanted) continue;
      return Disagreement{request, "as configured:\n" + wanted + "in the program with native code:\n" + with_code +
                                       "in the program of tables alone:\n" + with_tables};
    }
  }
  return std::nullopt;
}

}  // namespace edge::diff
