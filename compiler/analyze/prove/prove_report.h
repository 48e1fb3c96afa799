// The proof's findings as diagnostics, and for the status of routes.
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

  /// The loser can never win. At least one winner.
  void unreachable(const Shadowing& shadowing);
  /// Whether any request reaches `candidate` was not found out.
  void not_decided(const ir::Candidate& candidate, const std::string& reason);
  /// No request fulfils the conditions of `candidate`.
  void contradiction(const ir::Candidate& candidate);
  void disagreement(const ir::Candidate& candidate, const std::string& what, const std::optional<Witness>& request);
  /// The host is larger than the format can hold.
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

/// Condition `Shadowed`: one status for each route with a rule that wins nothing on some host, for sort_and_merge with
/// the linker's. The first rule of a route is told in full, the others are counted.
std::vector<ResourceStatus> shadow_statuses(const LinkedConfig& config, std::span<const Shadowing> shadowed);

}  // namespace edge::compiler::analyze
