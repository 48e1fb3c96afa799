#include "runtime/upstream/health/backend_state.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace edge::runtime {

void BackendState::configure(Name name, const HealthSettings& settings, net::Time now) {
  const std::lock_guard lock(mutex_);
  name_ = std::move(name);
  settings_ = settings;
  // Nobody would ever close a circuit, readmit an endpoint or check it again for which there are no settings.
  if (settings.circuit.errors == 0) circuit_ = {};
  for (const auto& endpoint : endpoints_) {
    if (settings.max_ejection_percent == 0) endpoint->outlier_ = {};
    if (settings.health.healthy == 0) endpoint->health_ = {};
  }
  publish_circuit();
  publish(now);
}

void BackendState::set_endpoints(std::span<const program::Endpoint> endpoints, net::Time now, std::string_view zone) {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<EndpointState>> next;
  next.reserve(endpoints.size());
  bool changed = endpoints.size() != endpoints_.size();
  // Both are sorted by address and port.
  auto known = endpoints_.begin();
  for (const program::Endpoint& endpoint : endpoints) {
    const auto before = [&](const auto& state) {
      return std::tie(state->address.address, state->address.port) < std::tie(endpoint.address, endpoint.port);
    };
    while (known != endpoints_.end() && before(*known)) ++known;
    const net::SocketAddress address{endpoint.address, endpoint.port};
    if (known != endpoints_.end() && (*known)->address == address) {
      next.push_back(*known);
    } else {
      next.push_back(std::make_shared<EndpointState>(address));
      changed = true;
    }
    changed |= std::exchange(next.back()->ready_, endpoint.ready) != endpoint.ready;
    changed |= std::exchange(next.back()->weight_, endpoint.weight) != endpoint.weight;
    const bool own = !zone.empty() && std::ranges::find(endpoint.zones, zone) != endpoint.zones.end();
    next.back()->priority_ = own ? EndpointPriority::kOwnZone : EndpointPriority::kOther;
    next.back()->zones_ = endpoint.zones;
  }
  endpoints_.swap(next);
  publish(now);
  if (changed) generation_.fetch_add(1, std::memory_order_release);
}

std::vector<std::shared_ptr<EndpointState>> BackendState::endpoints() const {
  const std::lock_guard lock(mutex_);
  return endpoints_;
}

BackendState::View BackendState::view(net::Time now) {
  const std::lock_guard lock(mutex_);
  if (now >= until_) {
    for (const auto& endpoint : endpoints_) endpoint->outlier_.readmit(now);
    publish(now);
  }
  View view{{}, generation_.load(std::memory_order_relaxed), until_};
  view.endpoints.reserve(endpoints_.size());
  for (const auto& endpoint : endpoints_) {
    if (!endpoint->ready_) continue;
    view.endpoints.push_back({.endpoint = endpoint,
                              .in_use = endpoint->in_use_,
                              .reserve = endpoint->usable_ && !endpoint->in_use_,
                              .weight = endpoint->weight_,
                              .since = endpoint->usable_since_});
  }
  return view;
}

/// Works out anew which endpoints take traffic. Those without a verdict do while none is known to be healthy, so that a
/// process that has just started serves, and an endpoint that has just come waits for its checks. Those of a later
/// priority do not while the earlier ones are enough.
void BackendState::publish(net::Time now) {
  const auto may = [](const EndpointState& endpoint) { return endpoint.ready_ && !endpoint.outlier_.ejected(); };
  const bool verdict = std::ranges::any_of(endpoints_, [&](const auto& endpoint) {
    return may(*endpoint) && endpoint->health_.health() == Health::kHealthy;
  });
  const Health needed = verdict ? Health::kHealthy : Health::kInitial;
  const bool others = std::ranges::any_of(endpoints_, [](const auto& endpoint) { return endpoint->usable_; });
  bool changed = false;
  until_ = net::kNever;
  for (const auto& endpoint : endpoints_) {
    const bool usable = may(*endpoint) && endpoint->health_.health() == needed;
    if (endpoint->outlier_.ejected()) until_ = std::min(until_, endpoint->outlier_.ejected_until());
    if (usable == endpoint->usable_) continue;
    endpoint->usable_ = usable;
    endpoint->usable_since_ = usable && others ? now : net::Time{};
    changed = true;
  }
  const EndpointPriority last = last_priority();
  for (const auto& endpoint : endpoints_) {
    const bool in_use = endpoint->usable_ && endpoint->priority_ <= last;
    changed |= std::exchange(endpoint->in_use_, in_use) != in_use;
  }
  if (changed) generation_.fetch_add(1, std::memory_order_release);
}

/// Returns the first priority up to which enough endpoints can take traffic. One that is not ready is one that cannot.
EndpointPriority BackendState::last_priority() const {
  std::uint64_t all = 0;
  std::uint64_t usable = 0;
  for (const auto& endpoint : endpoints_) {
    if (endpoint->priority_ != EndpointPriority::kOwnZone) continue;
    all += endpoint->weight_;
    if (endpoint->usable_) usable += endpoint->weight_;
  }
  const bool enough = usable != 0 && usable * 100 >= all * kEnoughPercent;
  return enough ? EndpointPriority::kOwnZone : EndpointPriority::kOther;
}

void BackendState::publish_circuit() {
  circuit_closed_.store(circuit_.state() == Circuit::State::kClosed, std::memory_order_relaxed);
  circuit_clean_.store(circuit_.clean(), std::memory_order_relaxed);
}

Circuit::Admission BackendState::admit(net::Time now) {
  const std::lock_guard lock(mutex_);
  return circuit_.admit(now);
}

void BackendState::update_health(EndpointState* endpoint, RequestResult outcome, bool probe, net::Time now) {
  const std::lock_guard lock(mutex_);
  const bool changed = circuit_.observe(outcome, probe, settings_.circuit, now);
  if (changed && is_error(outcome)) ++opened_;
  publish_circuit();
  if (endpoint == nullptr || settings_.max_ejection_percent == 0) return;
  const bool due = endpoint->outlier_.observe(outcome, settings_.outlier, now);
  if (due && may_eject()) {
    endpoint->outlier_.eject(settings_.outlier, now);
    ++ejections_;
    publish(now);
  }
  endpoint->erring_.store(endpoint->outlier_.run() != 0, std::memory_order_relaxed);
}

bool BackendState::may_eject() const {
  std::uint64_t ready = 0;
  std::uint64_t ejected = 0;
  for (const auto& endpoint : endpoints_) {
    if (!endpoint->ready_) continue;
    ++ready;
    if (endpoint->outlier_.ejected()) ++ejected;
  }
  return program::may_eject(ready, ejected, settings_.max_ejection_percent);
}

void BackendState::checked(EndpointState& endpoint, std::string error, net::Time now) {
  const std::lock_guard lock(mutex_);
  ++checks_;
  if (!error.empty()) ++failed_checks_;
  endpoint.last_check_ = std::chrono::system_clock::now();
  const bool changed = endpoint.health_.checked(error.empty(), settings_.health);
  endpoint.last_error_ = std::move(error);
  if (changed) publish(now);
}

BackendStatus BackendState::status(net::Time now) {
  view(now);  // an ejection may be over
  const std::lock_guard lock(mutex_);
  BackendStatus status;
  status.id = id_;
  status.name_space = name_.name_space;
  status.name = name_.name;
  status.circuit = circuit_.state();
  if (status.circuit == Circuit::State::kOpen) {
    status.open_for = std::max(net::Duration(0), circuit_.open_until() - now);
    if (status.open_for == net::Duration(0)) status.circuit = Circuit::State::kHalfOpen;
  }
  for (const auto& endpoint : endpoints_) {
    status.endpoints.push_back(
        {.address = endpoint->address,
         .ready = endpoint->ready_,
         .health = endpoint->health_.health(),
         .ejected_for = endpoint->outlier_.ejected() ? endpoint->outlier_.ejected_until() - now : net::Duration(0),
         .in_use = endpoint->in_use_,
         .reserve = endpoint->usable_ && !endpoint->in_use_,
         .zones = endpoint->zones_,
         .in_flight = endpoint->in_flight.load(std::memory_order_relaxed),
         .last_check = endpoint->last_check_,
         .last_error = endpoint->last_error_});
  }
  status.connections = room_.connections();
  status.idle = room_.idle();
  status.connects = connects_.load(std::memory_order_relaxed);
  status.connect_failures = connect_failures_.load(std::memory_order_relaxed);
  status.queued = room_.queued();
  status.features = {settings_.health.healthy != 0, settings_.max_ejection_percent != 0, settings_.circuit.errors != 0,
                     settings_.retries};
  status.checks = checks_;
  status.failed_checks = failed_checks_;
  status.ejections = ejections_;
  status.circuit_opened = opened_;
  status.retries = retries_.load(std::memory_order_relaxed);
  status.retries_refused = retries_refused_.load(std::memory_order_relaxed);
  status.overflows = overflows_.load(std::memory_order_relaxed);
  return status;
}

}  // namespace edge::runtime
