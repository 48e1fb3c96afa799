// When and from whom a certificate is ordered next: renewal, waits after failures, the choice of the CA. Pure functions
// of the state and a time.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/link/linked_settings.h"
#include "controller/acme/ca.h"
#include "controller/acme/certificate_crypto.h"
#include "controller/acme/order_state.h"

namespace edge::controller::acme {

/// Whether another controller has said that it makes the order, and has not come to its URL yet. `identity`: of the one
/// that asks. A time to come is of a clock that was set back, and claims nothing, but for what clocks differ by.
bool is_claimed(const OrderState& state, const std::string& identity, std::int64_t now);
/// The beginning of a round: the CA to be asked, and whether by its staging directory. Keeps an order that is under way
/// with the same directory.
void begin_round(OrderState& state, const compiler::AcmeSettings& settings, std::int64_t now);
/// Sets the time and the CA of the next round. `share`: in [0, 1), by which those of several names differ.
void end_round(OrderState& state, const compiler::AcmeSettings& settings, const OrderFault& fault, std::int64_t now,
               double share);
/// A trial at the staging directory has succeeded: the next round is none.
void end_trial(OrderState& state, std::int64_t now);

/// Returns when to renew: within the CA's window (RFC 9773 section 4.2), which is believed from a tenth of the lifetime
/// to nine tenths, else at two thirds of the lifetime, up to a twentieth of it earlier by `share`.
std::int64_t renewal_time(const CertificateView& certificate, const std::optional<RenewalAdvice>& advice, double share);

/// Returns a number in [0, 1) that a name always has.
double share_of(std::string_view name);

}  // namespace edge::controller::acme
