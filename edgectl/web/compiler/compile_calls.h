// The calls that the compiler's process answers. To add one: a function and a line in compile_calls.cc; the server asks
// for it by CompilerProcess::ask.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "edgectl/web/compiler/configuration.h"
#include "edgectl/web/compiler/explainer.h"
#include "edgectl/web/compiler/workbench.h"

namespace edge::edgectl::web {

/// What lasts from call to call.
struct CompileState {
  explicit CompileState(std::string with_class)
      : controller_class(std::move(with_class)), explainer(controller_class), workbench(controller_class) {}

  std::string controller_class;
  Configuration configuration;
  Explainer explainer;
  std::size_t explained_version = 0;  ///< of the configuration that `explainer` has compiled
  Workbench workbench;
};

struct CompileCall {
  std::string_view name;
  /// Returns JSON. `parameters` are the server's, who has checked what came from a browser.
  Result<std::string> (*run)(CompileState& state, const nlohmann::json& parameters);
};

std::span<const CompileCall> compile_calls();

}  // namespace edge::edgectl::web
