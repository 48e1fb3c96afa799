// Compiles a configuration for several engines and holds them, request by request, against the reference matcher.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/link/linked_config.h"
#include "tests/reference/engines.h"
#include "tests/reference/reference.h"

namespace edge::diff {

/// One request on which not all agree; `text` says who answered what.
struct Disagreement {
  reference::OwnedRequest request;
  std::string text;
};

/// Keeps three compilers, one that makes native code, one that makes tables alone and one that makes tables without
/// databases of patterns, so that compiles after the first take the incremental way.
class Comparison {
 public:
  Comparison();

  /// The first disagreement over `requests`, each sent to every bind. A compile or load that fails is one as well.
  std::optional<Disagreement> compile_and_compare(const compiler::LinkedConfig& config,
                                                  const std::vector<reference::OwnedRequest>& requests);
  /// The same after `route` alone was replaced since the last call: takes Compiler::recompile.
  std::optional<Disagreement> recompile_and_compare(const compiler::LinkedConfig& config, std::uint32_t route,
                                                    const std::vector<reference::OwnedRequest>& requests);

  /// Requests evaluated by the reference and all engines so far, and those of them that some rule matched.
  std::uint64_t evaluations() const { return evaluations_; }
  std::uint64_t matched() const { return matched_; }
  /// Rules under a host whose treatment was held against the configuration.
  std::uint64_t treatments() const { return treatments_; }

 private:
  std::optional<Disagreement> compare(const compiler::LinkedConfig& config,
                                      const std::vector<reference::OwnedRequest>& requests,
                                      const std::optional<compiler::Artifact>& native,
                                      const std::optional<compiler::Artifact>& tables,
                                      const std::optional<compiler::Artifact>& portable,
                                      const Diagnostics& diagnostics);

  compiler::Compiler native_;
  compiler::Compiler tables_;
  compiler::Compiler portable_;
  std::uint64_t evaluations_ = 0;
  std::uint64_t matched_ = 0;
  std::uint64_t treatments_ = 0;
};

}  // namespace edge::diff
