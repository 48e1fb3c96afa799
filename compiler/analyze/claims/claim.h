// Checks whether a claim holds for every request to a program: `path prefix "/admin" implies policy OIDC`.
//
// The destinations of requests are a finite list: each rule of each host of each listener, by each of its backends, and
// none. For each of these the claim's facts are known, so that what remains of the claim is a set of requests; the
// claim fails when some request outside of this set has that destination.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "compiler/analyze/space/witness.h"
#include "compiler/expr/expression.h"
#include "program/read.h"

namespace edge::compiler::analyze {

struct ClaimResult {
  enum class State : std::uint8_t { kHolds, kFails, kNotDecided };
  State state = State::kHolds;
  /// kFails: a counterexample, decided by the interpreter, and the bind (an index into the program's binds) that it
  /// comes in on.
  std::optional<Witness> request = std::nullopt;
  std::uint32_t bind = 0;
  /// kFails, with several backends: the backend (namespace/name) that it may go to and should not.
  std::string backend = {};
  /// kNotDecided: the reason for the first of `undecided` destinations.
  std::string reason = {};
  std::size_t undecided = 0;
};

/// Returns the policy types as claims name them.
std::span<const std::string_view> policy_types();

class ClaimCheck {
 public:
  /// `program` must outlive this object.
  explicit ClaimCheck(const program::ProgramView& program);
  ~ClaimCheck();
  ClaimCheck(const ClaimCheck&) = delete;
  ClaimCheck& operator=(const ClaimCheck&) = delete;

  /// `claim` is a result of expr::parse_claim. Requests without a rule are ignored for claims about policies only: they
  /// get 404 in any case.
  ClaimResult check(const expr::Expression& claim);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace edge::compiler::analyze
