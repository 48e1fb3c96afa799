// The contents of PreparedRoutes (lower.h): written by prepare.cc, read by lower.cc.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/expr/expression.h"
#include "compiler/expr/regex_syntax.h"
#include "compiler/ir/lower.h"

namespace edge::compiler::ir {

/// A pattern in the form for the engines.
struct PreparedPattern {
  std::string pattern;
  bool always = false;  ///< found in every subject: only presence is tested
};

/// One route's parsed parts. Most routes have neither expression nor pattern, and no such object.
struct PreparedParts {
  std::optional<expr::Expression> expression;
  /// By (rule << 16 | match): path, then headers, then query keys, only those with patterns.
  std::unordered_map<std::uint32_t, std::vector<PreparedPattern>> patterns;
};

struct PreparedRoute {
  bool usable = false;
  std::unique_ptr<PreparedParts> parts;
};

struct PreparedRoutes::Impl {
  std::vector<PreparedRoute> routes;
};

}  // namespace edge::compiler::ir
