// What a service is told of its node: its zone, and the virtual addresses that its listeners serve.
#include <algorithm>

#include "agent/service.h"

namespace edge::agent {

std::vector<vip::ServedAddress> Service::served() const {
  std::vector<vip::ServedAddress> all;
  const std::vector<runtime::UnboundListener> unbound = server_->unbound();
  for (const runtime::BoundAddress& bound : server_->addresses()) {
    const bool any = bound.address == IpAddress() || to_string(bound.address) == "0.0.0.0";
    const bool amiss = std::ranges::any_of(unbound, [&](const runtime::UnboundListener& one) {
      return one.any_address == any && (any || one.address == bound.address) &&
             one.fault != runtime::ListenFault::kAddress;
    });
    all.push_back({any, bound.address, amiss ? vip::Serves::kPartly : vip::Serves::kFull});
  }
  return all;
}

std::string Service::serves_nothing() const {
  if (!server_->addresses().empty()) return {};
  const auto unbound = server_->unbound();
  if (!unbound.empty()) return "no listener is bound: " + unbound.front().reason;
  return options_.ready_without_listeners
             ? std::string()
             : "no listener: the configuration that is served has none; a ProxyGateway makes one";
}

void Service::set_zone(const std::string& zone) {
  if (!options_.server.zone.empty() || !server_->set_zone(zone)) return;
  log_.info(zone.empty() ? "the zone of this agent is not known any more" : "this agent is in zone " + zone);
}

void Service::set_region(const std::string& region) {
  if (server_->set_region(region) && !region.empty()) log_.info("this agent is in region " + region);
}

void Service::addresses_moved() {
  if (sampler_) sampler_->recheck_soon();
}

void Service::set_holder(std::shared_ptr<vip::Holder> holder) {
  const std::lock_guard lock(holder_mutex_);
  if (holder_ != nullptr) metrics_->leave_out(holder_figures_);
  holder_ = std::move(holder);
  if (holder_ == nullptr) return;
  holder_figures_ = metrics_->add([own = holder_](metrics::Exposition& out) { own->write_metrics(out); });
}

std::shared_ptr<vip::Holder> Service::holder() const {
  const std::lock_guard lock(holder_mutex_);
  return holder_;
}

/// Before the listeners close: who comes then is to come to another node.
void Service::leave_addresses() {
  const std::shared_ptr<vip::Holder> own = holder();
  if (own == nullptr) return;
  superseded_ ? own->hand_over() : own->leave();
}

}  // namespace edge::agent
