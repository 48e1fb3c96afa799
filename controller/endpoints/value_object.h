// Splits one object of the cluster into its values, which are sent apart from programs, and the part for the compiler.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/model/cluster.h"

namespace edge::controller {

struct ValueObject {
  std::vector<compiler::model::EndpointSlice> slices;
  /// A ConfigMap with CAs or networks is treated as a Secret, under the name that programs use
  /// (model::kConfigMapPrefix).
  std::vector<compiler::model::Secret> secrets;
  /// The compiler's part; nullopt: none.
  std::optional<std::string> for_compiler;
};

ValueObject read_value_object(const std::string& name, const std::string& document);

}  // namespace edge::controller
