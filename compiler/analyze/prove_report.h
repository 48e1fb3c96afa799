// The proof's findings as diagnostics.
#pragma once

#include <optional>
#include <string>

#include "compiler/analyze/prove.h"

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

}  // namespace edge::compiler::analyze
