// Compares native code and the regex engine of one host with the interpreter, request by request.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "compiler/analyze/prove/prove.h"
#include "program/evaluate/evaluate.h"

namespace edge::compiler::analyze {

class EngineComparison {
 public:
  /// All arguments must outlive the comparison.
  EngineComparison(const program::Section& section, const Engines& engines, const program::RegexMatcher& matcher);

  /// Returns whether any engine other than the interpreter is used for this host.
  bool needed() const { return native_ != nullptr || sets_; }
  /// Returns an error of the host's native code as a whole.
  std::optional<std::string> fault() const { return fault_; }

  /// Evaluates group `group` for `request` on every engine. \returns their disagreement.
  std::optional<std::string> compare(const program::RequestView& request, std::uint32_t group);

 private:
  std::optional<std::string> compare_patterns(const program::MatchInput& input);

  const program::Section& section_;
  const Engines& engines_;
  const program::RegexMatcher& matcher_;
  const program::NativeHost* native_ = nullptr;
  bool sets_ = false;
  std::optional<std::string> fault_;
  std::set<std::pair<std::uint64_t, std::string>> seen_;  ///< subjects already compared for a set
};

}  // namespace edge::compiler::analyze
