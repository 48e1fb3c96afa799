// Requests that are made up: from the conditions that must hold to a head that fulfils them.
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

/// Where a candidate hangs: the paths that lead to it.
using PathClass = program::Trace::PathClass;
struct CandidatePath {
  PathClass path_class;
  std::string_view path;  ///< exact path, or prefix without trailing slash
};

/// The first address past a block.
IpAddress after(const Cidr& cidr);

using Matcher = std::function<bool(std::string_view pattern, std::string_view subject)>;

/// Fills in requests for one host.
class WitnessMaker {
 public:
  /// All arguments must outlive the maker.
  WitnessMaker(const LinkedConfig& config, const ir::Host& host, const Matcher& matcher);

  /// A request of the host without any condition, for `path`.
  Witness plain(std::string_view path) const;
  /// Paths that lead to `place`, the likeliest to be free of other rules first.
  std::vector<std::string> paths(const CandidatePath& candidate_path, const Literals& literals) const;
  /// Whether every condition on the path among `literals` is as it must be.
  bool path_fits(const std::string& path, const Literals& literals) const;
  /// Everything but the path; nullopt when no values were found.
  std::optional<Witness> fill(const Literals& literals) const;
  /// Requests that break one condition of `literals` each, and some that break the path.
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
