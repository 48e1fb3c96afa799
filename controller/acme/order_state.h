// What outlives a controller of the order of one certificate, as it is kept in a Secret: another leader goes on with
// the same order, and with the same waits after failures.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "compiler/link/linked_settings.h"

namespace edge::controller::acme {

struct OrderState {
  std::string host;
  std::string directory;     ///< of the CA, or its staging one
  std::string key{};         ///< of the certificate, PEM
  std::string url{};         ///< of the order; empty: none was made, or that is not known
  std::string owner{};       ///< the controller that makes it
  std::int64_t created = 0;  ///< of the order; seconds since 1970, like `not_before`
  /// Validation failed by these, in this round.
  std::set<compiler::ChallengeKind> failed{};
  // Over all rounds since the last certificate:
  std::uint32_t failures = 0;
  std::uint32_t authority = 0;  ///< of the settings' list
  bool staging = false;         ///< the round is a trial
  std::int64_t not_before = 0;  ///< of the next round
  std::string fault{};          ///< of the last round
  std::string waits_for{};      ///< before the round can go on; empty: nothing
  friend bool operator==(const OrderState&, const OrderState&) = default;
};

std::string write_order_state(const OrderState& state);
/// nullopt: it is none, or exceeds 64 KiB.
std::optional<OrderState> read_order_state(std::string_view json);

}  // namespace edge::controller::acme
