// Lifetimes of the authority's certificates. Each is renewed after two thirds of its lifetime.
#pragma once

#include <chrono>

#include "controller/authority/certificates.h"

namespace edge::controller {

inline constexpr auto kAgentLifetime = std::chrono::hours(24 * 30);
inline constexpr auto kRemoteLifetime = kAgentLifetime;
/// Of a first certificate, which a file carries: always shorter, so that every later one lasts longer.
inline constexpr auto kMostInvitation = std::chrono::hours(24 * 7);
inline constexpr auto kServerLifetime = std::chrono::hours(24 * 90);
inline constexpr auto kAdministratorLifetime = std::chrono::hours(24 * 365);
inline constexpr auto kNamedTokenLifetime = std::chrono::hours(24);
inline constexpr auto kAuthorityLifetime = std::chrono::hours(24 * 3650);
/// Allowed clock skew: certificates are valid from a little before they are issued.
inline constexpr auto kClockSkew = std::chrono::hours(1);

inline Validity lasting(WallTime now, std::chrono::seconds lifetime) { return {now - kClockSkew, now + lifetime}; }

}  // namespace edge::controller
