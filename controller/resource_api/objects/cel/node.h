// The syntax tree of a CEL expression.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controller/resource_api/objects/cel/cel.h"

namespace edge::resource_api::objects {

struct CelRule::Node {
  enum class Kind : std::uint8_t {
    kLiteral,      ///< value
    kName,         ///< text: a variable
    kField,        ///< children[0].text
    kIndex,        ///< children[0][children[1]]
    kHas,          ///< has(children[0]), which is a kField
    kCall,         ///< text(children...); a method's receiver is the first
    kMacro,        ///< children[0].text(variable, children[1])
    kList,         ///< [children...]
    kNot,          ///< !children[0]
    kNegative,     ///< -children[0]
    kOr,           ///< children[0] || children[1]
    kAnd,          ///< children[0] && children[1]
    kBinary,       ///< children[0] text children[1]: == != < <= > >= in + -
    kConditional,  ///< children[0] ? children[1] : children[2]
  };

  Kind kind = Kind::kLiteral;
  std::string text{};
  std::string variable{};
  std::shared_ptr<const Json> value{};
  std::vector<std::unique_ptr<const Node>> children{};
};

/// Parses an expression; nullptr: not valid in the supported subset.
std::unique_ptr<const CelRule::Node> parse_cel(std::string_view text);

/// Returns whether the expression uses a variable.
bool names_variable(const CelRule::Node& node, std::string_view name);

enum class CelOutcome : std::uint8_t { kTrue, kFalse, kError };
/// Evaluates. Bounded: an evaluation of more than a million steps is an error.
CelOutcome evaluate_cel(const CelRule::Node& node, const Json& self, const Json* old_self);

}  // namespace edge::resource_api::objects
