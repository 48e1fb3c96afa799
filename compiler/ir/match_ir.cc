#include "compiler/ir/match_ir.h"

#include "base/hash.h"

namespace edge::compiler::ir {

std::uint64_t host_id(const LinkedConfig& config, std::uint32_t listener, const HostPattern& pattern) {
  const LinkedListener& owner = config.listeners[listener];
  const Identity& gateway = config.gateways[owner.gateway].identity;
  const std::uint64_t gateway_id = stable_id(gateway.kind, gateway.name_space, gateway.name);
  return hash_bytes(hash_bytes(gateway_id, owner.name), pattern.text());
}

bool operator<(const HostKey& a, const HostKey& b) {
  if (a.listener != b.listener) return a.listener < b.listener;
  return HostPattern::more_specific(a.pattern, b.pattern);
}

}  // namespace edge::compiler::ir
