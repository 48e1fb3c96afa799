// Proves a program on itself: for every rule a request is made up that reaches it, and the interpreter, the native code
// and Hyperscan must agree on it and on its near misses. The pattern syntax trees of expr/ give the subjects.
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

/// The engines that are held against the interpreter; a null function leaves that engine out.
struct Engines {
  /// Native code of the host, null when it has none.
  std::function<const program::NativeHost*(std::uint64_t host_id)> native;
  /// Hits of one regex set (a kRegex section id) on a subject, as bits of the set; nullopt on an engine fault.
  std::function<std::optional<std::vector<bool>>(std::uint64_t set_id, std::size_t patterns, std::string_view subject)>
      regex;
  /// Whether the set is decided without a database, so that there is nothing to compare. May be null: none is.
  std::function<bool(std::uint64_t set_id)> lacks_database;
};

/// A rule that wins nothing on one host: for the conditions of its route's status.
struct Shadowing {
  ir::Candidate loser;
  /// Those that take its requests together; none of them can be left out.
  std::vector<ir::Candidate> winners;
  /// One of the loser's requests, which the first winner takes.
  std::optional<Witness> request;
  /// `OPTIONS *`, which has no path, reaches the loser all the same.
  bool of_server = false;
};

struct ProofStats {
  std::size_t rules = 0;
  std::size_t reached = 0;
  std::size_t unreachable = 0;
  std::size_t undecided = 0;
  std::size_t requests = 0;
};

/// Proves one host. Unreachable rules become warnings that name the rules that hide them (kUnreachableRule), and go to
/// `shadowed` when that is given; where it cannot be decided, a note says so (kNotDecided). A disagreement becomes an
/// error (kEnginesDisagree) with the request.
ProofStats prove_host(const LinkedConfig& config, const ir::Host& host, const program::SectionView& section,
                      const Engines& engines, Diagnostics& diagnostics, std::vector<Shadowing>* shadowed = nullptr);

}  // namespace edge::compiler::analyze
