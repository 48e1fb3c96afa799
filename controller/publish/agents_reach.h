// Which listeners agents do not reach, for whoever sends a CA to them.
#pragma once

#include <cstdint>
#include <optional>

#include "controller/acme/certificates.h"
#include "controller/distribute/distributor.h"

namespace edge::controller {

/// For one thread.
class ReachView {
 public:
  /// Gathers it of all agents, where anything has changed since the last call.
  const acme::AgentsReach& look(const Distributor& distributor);

 private:
  std::optional<std::uint64_t> changes_;
  acme::AgentsReach reach_;
};

}  // namespace edge::controller
