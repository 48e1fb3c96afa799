#include "runtime/upstream/endpoint.h"

namespace edge::runtime {

std::shared_ptr<EndpointLoad> EndpointLoads::of(std::uint64_t backend_id, const net::SocketAddress& address) {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<EndpointLoad>& known = loads_[{backend_id, {address.address, address.port}}];
  if (auto load = known.lock()) return load;
  // Endpoints come and go: those that are gone are swept out when their number has doubled.
  if (loads_.size() > sweep_at_) {
    std::erase_if(loads_, [&](const auto& entry) { return &entry.second != &known && entry.second.expired(); });
    sweep_at_ = std::max<std::size_t>(1024, 2 * loads_.size());
  }
  auto load = std::make_shared<EndpointLoad>();
  known = load;
  return load;
}

}  // namespace edge::runtime
