#include "edgectl/web/compiler/work_calls.h"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "edgectl/web/compiler/compile_calls.h"

namespace edge::edgectl::web {
namespace {

using nlohmann::json;

std::vector<std::string> texts_in(const json& parameters, std::string_view name) {
  std::vector<std::string> texts;
  for (const json& one : list_in(parameters, name)) texts.push_back(text_value(one));
  return texts;
}

WorkSide live_side(CompileState& state, const std::string& group = {}) {
  const Configuration& configuration = state.configuration;
  return {.key = "live " + std::to_string(configuration.version()) + (group.empty() ? "" : " " + group),
          .sources =
              [&configuration] {
                const auto sources = std::make_shared<SourceMap>();
                configuration.add_sources(*sources);
                return sources;
              },
          .group = group};
}

/// The live configuration with the draft in place of its object.
WorkSide draft_side(CompileState& state, const json& draft) {
  const Configuration& configuration = state.configuration;
  return {.sources =
              [&configuration, &draft] {
                const auto sources = std::make_shared<SourceMap>();
                if (draft.contains("text")) sources->add("draft", text_in(draft, "text"));
                configuration.add_sources(*sources, text_in(draft, "plural"), text_in(draft, "key"));
                return sources;
              },
          .resource = text_in(draft, "resource")};
}

/// kDataLoss: the program is to be given.
Result<WorkSide> side_of(CompileState& state, const json& side) {
  if (side.contains("draft")) return draft_side(state, side["draft"]);
  if (!side.contains("program")) return live_side(state, text_in(side, "group"));
  WorkSide past{.key = "program " + text_in(side, "program")};
  if (!side.contains("bytes")) {
    if (state.workbench.has(past.key)) return past;
    return Error{ErrorCode::kDataLoss, "the program is not known any more"};
  }
  const auto bytes = from_base64(text_in(side, "bytes"));
  if (!bytes) return Error{ErrorCode::kInvalidArgument, "the program's bytes are no base64"};
  const auto program = std::make_shared<std::vector<std::byte>>(bytes->size());
  std::memcpy(program->data(), bytes->data(), bytes->size());
  past.program = program;
  return past;
}

}  // namespace

Result<std::string> check_draft(CompileState& state, const json& parameters) {
  return state.workbench.check(live_side(state), draft_side(state, member_in(parameters, "draft")));
}

Result<std::string> compare_sides(CompileState& state, const json& parameters) {
  const auto before = side_of(state, member_in(parameters, "before"));
  if (!before) return before.error();
  const auto after = side_of(state, member_in(parameters, "after"));
  if (!after) return after.error();
  return state.workbench.compare(*before, *after, texts_in(parameters, "claims"));
}

Result<std::string> prove_claims(CompileState& state, const json& parameters) {
  const auto side = side_of(state, member_in(parameters, "side"));
  if (!side) return side.error();
  return state.workbench.prove(*side, texts_in(parameters, "claims"));
}

Result<std::string> analyse_object(CompileState& state, const json& parameters) {
  return state.workbench.analyse(live_side(state), text_in(parameters, "kind"), text_in(parameters, "name"));
}

Result<std::string> explain_by_side(CompileState& state, const json& parameters) {
  const auto side = side_of(state, member_in(parameters, "side"));
  if (!side) return side.error();
  return state.workbench.explain(*side, {.request = text_in(parameters, "request"),
                                         .headers = texts_in(parameters, "headers"),
                                         .claims = texts_in(parameters, "claims"),
                                         .source = text_in(parameters, "source"),
                                         .port = static_cast<std::uint16_t>(integer_in(parameters, "port"))});
}

}  // namespace edge::edgectl::web
