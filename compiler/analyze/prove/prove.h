// Proves a program by itself: for every rule a request is constructed that reaches it, and interpreter, native code and
// Hyperscan must agree on this request and on near misses. The pattern syntax trees of expr/ provide the subjects.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/analyze/space/witness.h"
#include "compiler/ir/match_ir.h"
#include "compiler/link/linked_config.h"
#include "program/evaluate/abi.h"
#include "program/read.h"

namespace edge::compiler::analyze {

/// The engines to compare with the interpreter; a null function omits an engine.
struct Engines {
  /// Native code of the host, null when it has none.
  std::function<const program::NativeHost*(std::uint64_t host_id)> native;
  /// Returns the hits of one regex set (a kRegex section id) on a subject, as bits of the set; nullopt on an engine
  /// error.
  std::function<std::optional<std::vector<bool>>(std::uint64_t set_id, std::size_t patterns, std::string_view subject)>
      regex;
  /// Returns whether the set is evaluated without a database, so that there is nothing to compare. May be null: none
  /// is.
  std::function<bool(std::uint64_t set_id)> lacks_database;
};

/// A rule that never wins on one host: for the conditions of its route's status.
struct Shadowing {
  ir::Candidate loser;
  /// The rules that together take its requests; all are needed.
  std::vector<ir::Candidate> winners;
  /// One of its requests, taken by the first winner.
  std::optional<Witness> request;
  /// `OPTIONS *`, which has no path, still reaches it.
  bool of_server = false;
};

struct ProofStats {
  std::size_t rules = 0;
  std::size_t reached = 0;
  std::size_t unreachable = 0;
  std::size_t undecided = 0;
  std::size_t requests = 0;
};

/// Proves one host. Unreachable rules become warnings that name the rules that shadow them (kUnreachableRule), and are
/// added to `shadowed` if given; undecided ones become notes (kNotDecided). A disagreement becomes an error
/// (kEnginesDisagree) with the request.
ProofStats prove_host(const LinkedConfig& config, const ir::Host& host, const program::SectionView& section,
                      const Engines& engines, Diagnostics& diagnostics, std::vector<Shadowing>* shadowed = nullptr);

}  // namespace edge::compiler::analyze
