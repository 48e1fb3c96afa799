// Formats the result of `edgectl diff`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "compiler/analyze/diff/diff.h"

namespace edge::edgectl {

/// The traffic of an access log, by class of a diff.
struct DiffTraffic {
  std::vector<std::size_t> seen;  ///< number of requests per class
  std::size_t requests = 0;       ///< parsed
  std::size_t unread = 0;         ///< unreadable lines
};

/// `traffic` null: without a log.
std::string diff_text(const compiler::analyze::Diff& diff, const DiffTraffic* traffic);
std::string diff_json(const compiler::analyze::Diff& diff, const DiffTraffic* traffic);

}  // namespace edge::edgectl
