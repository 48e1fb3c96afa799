#include "edgectl/web/compiler/compile_calls.h"

#include <cstdint>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/web/compiler/work_calls.h"

namespace edge::edgectl::web {
namespace {

using nlohmann::json;

Result<std::string> explain(CompileState& state, const json& parameters) {
  if (!state.explainer.compiled() || state.explained_version != state.configuration.version()) {
    SourceMap sources;
    state.configuration.add_sources(sources);
    if (Status status = state.explainer.compile(sources); !status) return status.error();
    state.explained_version = state.configuration.version();
  }
  ExplainRequest asked{.request = text_in(parameters, "request"),
                       .source = text_in(parameters, "source"),
                       .port = static_cast<std::uint16_t>(integer_in(parameters, "port"))};
  for (const json& header : list_in(parameters, "headers")) asked.headers.push_back(text_value(header));
  for (const json& claim : list_in(parameters, "claims")) asked.claims.push_back(text_value(claim));
  return state.explainer.explain(asked);
}

constexpr CompileCall kCompileCalls[] = {
    {"explain", explain},    {"check", check_draft},      {"compare", compare_sides},
    {"prove", prove_claims}, {"analyse", analyse_object}, {"try", explain_by_side},
};

}  // namespace

std::span<const CompileCall> compile_calls() { return kCompileCalls; }

}  // namespace edge::edgectl::web
