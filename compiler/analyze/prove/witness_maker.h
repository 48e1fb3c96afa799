// Constructs requests that meet given conditions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/analyze/prove/solve.h"
#include "compiler/analyze/space/witness.h"
#include "compiler/expr/regex_syntax.h"
#include "program/evaluate/evaluate.h"

namespace edge::compiler::analyze {

/// The place of a candidate in the tables: the paths that lead to it.
using PathClass = program::Trace::PathClass;
struct CandidatePath {
  PathClass path_class;
  std::string_view path;  ///< exact path, or prefix without trailing slash
};

/// Returns the first address after a block.
IpAddress after(const Cidr& cidr);

using Matcher = std::function<bool(std::string_view pattern, std::string_view subject)>;

/// Constructs requests for one host.
class WitnessMaker {
 public:
  /// All arguments must outlive this object.
  WitnessMaker(const LinkedConfig& config, const ir::Host& host, const Matcher& matcher);

  /// Returns a request of the host for `path` that meets no condition in particular.
  Witness plain(std::string_view path) const;
  /// Returns paths that lead to `candidate_path`, those most likely without other rules first.
  std::vector<std::string> paths(const CandidatePath& candidate_path, const Literals& literals) const;
  /// Returns whether every condition on the path in `literals` has the required value.
  bool path_fits(const std::string& path, const Literals& literals) const;
  /// Sets everything but the path; nullopt when no values were found.
  std::optional<Witness> fill(const Literals& literals) const;
  /// Returns requests that violate one condition of `literals` each, and some with other paths.
  std::vector<Witness> near_misses(const Witness& witness, const CandidatePath& candidate_path,
                                   const Literals& literals) const;

 private:
  std::optional<std::string> slot_value(std::uint32_t slot, const Literals& literals, bool& absent) const;
  std::optional<IpAddress> source(const Literals& literals) const;
  bool holds(const ir::Node& node, std::string_view value) const;
  const std::vector<std::string>& samples(std::uint32_t regex) const;
  void set_slot(Witness& witness, std::uint32_t slot, std::optional<std::string> value) const;
  void break_slot(const Witness& witness, const Literal& literal, std::vector<Witness>& out) const;

  const ir::Host& host_;
  const Matcher& matcher_;
  Witness base_;
  mutable std::vector<std::optional<std::vector<std::string>>> samples_;
};

}  // namespace edge::compiler::analyze
