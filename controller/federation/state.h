// The bytes of a replica's state (schemas/federation.proto, State): what the controller keeps on disk.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "controller/federation/replica.h"

namespace edge::federation {

std::string encode_state(const Replica& replica);
/// Settings of peers are not part of it: `set_peer` gives them. kDataLoss: it cannot be read, or is another cluster's.
Result<Replica> decode_state(std::string_view bytes, const std::string& cluster, MergeRules rules,
                             Signatures signatures);

}  // namespace edge::federation
