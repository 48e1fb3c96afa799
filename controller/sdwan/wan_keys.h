// Keys of tunnels and of measurements, derived from one secret of the controllers, so that none is stored and all
// controllers know the same.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace edge::controller::sdwan {

/// Of WireGuard (X25519): 32 bytes.
struct TunnelKey {
  std::uint32_t epoch = 0;
  std::string bytes;
};

/// The valid private keys of a site, oldest first: one, or two for a while after a change.
std::vector<TunnelKey> private_keys(std::string_view master, std::string_view site,
                                    std::chrono::system_clock::time_point now);
/// Empty: it is no key.
std::string public_key_of(std::string_view private_key);
/// 32 bytes for what `purpose` names.
std::string derived_key(std::string_view master, std::string_view purpose);

}  // namespace edge::controller::sdwan
