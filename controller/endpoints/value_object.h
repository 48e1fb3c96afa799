// One object of the cluster as the text that a compiler reads, taken apart: what of it travels beside programs, and
// what is left for the compiler.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/model/cluster.h"

namespace edge::controller {

struct ValueObject {
  std::vector<compiler::model::EndpointSlice> slices;
  /// A ConfigMap with authorities is one, under the name by which programs ask for it (model::kConfigMapPrefix).
  std::vector<compiler::model::Secret> secrets;
  /// What the compiler reads of it; nullopt: nothing.
  std::optional<std::string> for_compiler;
};

ValueObject read_value_object(const std::string& name, const std::string& document);

}  // namespace edge::controller
