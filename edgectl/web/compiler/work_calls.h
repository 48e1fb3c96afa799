// The calls of the compiler's process about drafts, kept programs, claims and costs (workbench.h). Parameters:
//
//   check    {draft}                    a draft's diagnostics
//   compare  {before, after, claims}    what changes between two sides
//   prove    {side, claims}
//   analyse  {kind, name}               an object's diagnostics and cost
//   try      {side, request, headers, source, port}   explains by a side
//
// A side is {} for the live configuration, {draft} or {program, bytes}: the hash of a program, and in base64 the
// program, which may be absent where it was given before (kDataLoss: it has to be given again). A draft is {text,
// plural, key, resource}; without a text the object is gone.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace edge::edgectl::web {

struct CompileState;

Result<std::string> check_draft(CompileState& state, const nlohmann::json& parameters);
Result<std::string> compare_sides(CompileState& state, const nlohmann::json& parameters);
Result<std::string> prove_claims(CompileState& state, const nlohmann::json& parameters);
Result<std::string> analyse_object(CompileState& state, const nlohmann::json& parameters);
Result<std::string> explain_by_side(CompileState& state, const nlohmann::json& parameters);

}  // namespace edge::edgectl::web
