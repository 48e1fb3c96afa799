// The outcome of `edgectl diff` in the forms of its -o.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/analyze/diff/diff.h"

namespace edge::edgectl {

/// The traffic of an access log on the classes of a diff.
struct DiffTraffic {
  std::vector<std::size_t> seen;  ///< requests, one count a class
  std::size_t requests = 0;       ///< that were read
  std::size_t unread = 0;         ///< lines that could not be
};

/// `traffic` null: no log was given.
std::string diff_text(const compiler::analyze::Diff& diff, const DiffTraffic* traffic);
std::string diff_json(const compiler::analyze::Diff& diff, const DiffTraffic* traffic);

}  // namespace edge::edgectl
