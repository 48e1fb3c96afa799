// Reports the proof's findings as diagnostics, and for the status of routes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/analyze/prove/prove.h"
#include "compiler/link/conditions.h"
#include "compiler/link/linked_config.h"

namespace edge::compiler::analyze {

class ProofReport {
 public:
  ProofReport(const LinkedConfig& config, const ir::Host& host, Diagnostics& diagnostics)
      : config_(config), host_(host), diagnostics_(diagnostics) {}

  /// Reports that the loser can never win. At least one winner.
  void unreachable(const Shadowing& shadowing);
  /// Reports that it is undecided whether any request reaches `candidate`.
  void not_decided(const ir::Candidate& candidate, const std::string& reason);
  /// Reports that no request meets the conditions of `candidate`.
  void contradiction(const ir::Candidate& candidate);
  void disagreement(const ir::Candidate& candidate, const std::string& what, const std::optional<Witness>& request);
  /// Reports that the host exceeds the limits of the format.
  void too_large(const std::string& what);

 private:
  Diagnostic about(const ir::Candidate& candidate, DiagnosticCode code, Severity severity) const;
  std::string host_name() const;
  std::string why(const Shadowing& shadowing) const;
  const PathMatch& path_of(const ir::Candidate& candidate) const;

  const LinkedConfig& config_;
  const ir::Host& host_;
  Diagnostics& diagnostics_;
};

/// Returns condition `Shadowed`: one status per route with a rule that never wins on some host, to be merged with the
/// linker's by sort_and_merge. The first rule of a route is described in full, the others are counted.
std::vector<ResourceStatus> shadow_statuses(const LinkedConfig& config, std::span<const Shadowing> shadowed);

}  // namespace edge::compiler::analyze
