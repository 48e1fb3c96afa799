// Lists of addresses and networks that policies name (IPAccess): the value `networks` of a ConfigMap, or a file of an
// agent. They are sent separately from a program, so that changing one requires no compile.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/ip.h"
#include "base/result.h"

namespace edge::program {

/// The key of a ConfigMap that has a list.
inline constexpr std::string_view kNetworksKey = "networks";

inline constexpr std::size_t kMaxAddressListBytes = std::size_t{64} << 20;
inline constexpr std::size_t kMaxListedNetworks = 1'000'000;

/// Parses a list: an address or a CIDR block a line; `#` begins a comment, and blank lines are skipped. An Error names
/// the first line that is neither, with its number: a list is never used in part. At most kMaxAddressListBytes and
/// kMaxListedNetworks.
Result<std::vector<Cidr>> read_address_list(std::string_view text);

}  // namespace edge::program
