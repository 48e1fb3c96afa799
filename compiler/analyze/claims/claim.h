// Whether a claim holds for every request that a program can be sent: `path prefix "/admin" implies policy OIDC`.
//
// Where requests can end is a finite list: each rule of each host of each listener, by each of its backends, and
// nowhere. For each of these what the claim asks about the end is known, so what is left of it is a set of requests;
// the claim fails when some request of the set's complement ends there.
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
  /// kFails: a request for which the claim does not hold, as the interpreter decides it, and the bind (an index into
  /// the program's binds) that it comes in on.
  std::optional<Witness> request = std::nullopt;
  std::uint32_t bind = 0;
  /// kFails, and there are several: the backend (namespace/name) that it may go to and should not.
  std::string backend = {};
  /// kNotDecided: why, of the first of `undecided` ends.
  std::string reason = {};
  std::size_t undecided = 0;
};

/// The types of policy as claims name them.
std::span<const std::string_view> policy_types();

class ClaimCheck {
 public:
  /// `program` must outlive this object.
  explicit ClaimCheck(const program::ProgramView& program);
  ~ClaimCheck();
  ClaimCheck(const ClaimCheck&) = delete;
  ClaimCheck& operator=(const ClaimCheck&) = delete;

  /// `claim` is of expr::parse_claim. Where it asks for policies alone, requests that no rule takes are not looked at:
  /// they get 404 whatever stands before it.
  ClaimResult check(const expr::Expression& claim);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace edge::compiler::analyze
