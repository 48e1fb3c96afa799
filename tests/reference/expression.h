// Rule D5, literally: a boolean routing expression, read by a small parser of its own and evaluated on the request
// itself. Shares nothing with compiler/expr.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tests/reference/facts.h"

namespace edge::reference {

class Expression {
 public:
  /// Null when the text is no expression.
  static std::shared_ptr<const Expression> parse(std::string_view text);
  virtual ~Expression() = default;
  virtual bool holds(const Facts& facts) const = 0;
};

}  // namespace edge::reference
