// Makes a failing case small enough to read.
#pragma once

#include <functional>
#include <string>

#include "compiler/link/linked_config.h"
#include "tests/reference/request.h"

namespace edge::diff {

struct Case {
  compiler::LinkedConfig config;
  reference::OwnedRequest request;
};

/// Drops routes, rules, matches, conditions and parts of the request as long as `fails` holds.
Case shrink(Case failing, const std::function<bool(const Case&)>& fails);

/// The case as YAML resources and a request line, ready for a golden case.
std::string case_text(const Case& small);

}  // namespace edge::diff
