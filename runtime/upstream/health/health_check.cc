#include "runtime/upstream/health/health_check.h"

#include <algorithm>
#include <latch>
#include <map>
#include <random>
#include <thread>

#include "base/hash.h"
#include "program/format/records.h"
#include "runtime/phase/client_connection.h"

namespace edge::runtime {
namespace {

using net::Wake;
using std::chrono::milliseconds;

/// No configuration makes us flood an endpoint.
constexpr net::Duration kShortestInterval = milliseconds(10);
/// Connections of checks at one time; what would be more waits.
constexpr std::uint32_t kMostAtOnce = 256;

}  // namespace

std::shared_ptr<const CheckSettings> check_settings(const program::BackendRecord& record,
                                                    const program::SectionView& section,
                                                    std::shared_ptr<const net::tls::ClientContext> tls) {
  const program::HealthCheckRecord* check = program::optional_of(section, record.health_check);
  if (check == nullptr) return nullptr;
  auto settings = std::make_shared<CheckSettings>();
  settings->protocol = check->protocol;
  settings->http2 = record.protocol == program::BackendProtocol::kHttp2;
  settings->encrypted = record.tls.count != 0;
  settings->announcement = own_header_for(record);
  settings->tls = std::move(tls);
  settings->interval = std::max(kShortestInterval, net::Duration(check->interval_ns));
  settings->timeout = net::Duration(check->timeout_ns);
  settings->initial_delay = net::Duration(check->initial_delay_ns);
  settings->path = section.string(check->path);
  settings->host = section.string(check->host);
  settings->grpc_service = section.string(check->grpc_service);
  const auto expected = section.array(check->expected_status);
  settings->expected.assign(expected.begin(), expected.end());
  for (const program::HeaderRecord& header : section.array(check->headers)) {
    settings->headers.emplace_back(section.string(header.name), section.string(header.value));
  }
  return settings;
}

/// Used only by the checking thread, except for `set` and the destructor.
struct HealthChecks::Impl {
  class Check;

  void apply(std::vector<Target> targets);
  /// [0, below)
  net::Duration random(net::Duration below);

  ProbeRoom room;
  std::map<const EndpointState*, Check*> checks;
  std::uint32_t under_way = 0;
  std::uint64_t seed = std::random_device()();
  std::thread thread;
};

/// Checks one endpoint, one check after the other.
class HealthChecks::Impl::Check final : public net::Retirable {
 public:
  Check(Impl& owner, Target target)
      : owner_(owner),
        target_(std::move(target)),
        waiter_(owner.room.loop),
        probe_(owner.room, waiter_, *target_.settings, target_.endpoint->address) {}

  const CheckSettings& settings() const { return *target_.settings; }
  void start() { run(); }
  void cancel() { waiter_.cancel(); }

 private:
  net::Detached run();

  Impl& owner_;
  Target target_;
  net::Waiter waiter_;
  HealthProbe probe_;
};

net::Detached HealthChecks::Impl::Check::run() {
  const net::Duration interval = settings().interval;
  // Not all endpoints at once: the first check comes within a tenth of the interval, the others drift by as much.
  net::Time next = owner_.room.loop.now() + settings().initial_delay + owner_.random(interval / 10);
  for (;;) {
    const Wake wake = co_await waiter_.wait(next);
    if (wake == Wake::kCancelled) break;
    if (owner_.under_way >= kMostAtOnce) {
      next = owner_.room.loop.now() + owner_.random(interval / 10);
      continue;
    }
    ++owner_.under_way;
    std::string fault = co_await probe_.ask();
    --owner_.under_way;
    if (waiter_.cancelled()) break;
    target_.backend->checked(*target_.endpoint, std::move(fault), owner_.room.loop.now());
    next = owner_.room.loop.now() + interval - interval / 20 + owner_.random(interval / 10);
  }
  owner_.room.loop.retire(std::unique_ptr<Check>(this));
}

net::Duration HealthChecks::Impl::random(net::Duration below) {
  seed += 0x9e3779b97f4a7c15;
  const std::uint64_t number = hash_mix(seed, seed ^ 0xd1342543de82ef95);
  const auto range = static_cast<unsigned __int128>(std::max<std::int64_t>(0, below.count()));
  return net::Duration(static_cast<std::int64_t>(number * range >> 64));
}

void HealthChecks::Impl::apply(std::vector<Target> targets) {
  std::map<const EndpointState*, Check*> next;
  for (Target& target : targets) {
    const EndpointState* endpoint = target.endpoint.get();
    const auto known = checks.find(endpoint);
    if (known != checks.end() && known->second->settings() == *target.settings) {
      next.insert(*known);
      checks.erase(known);
      continue;
    }
    auto* check = new Check(*this, std::move(target));
    next.emplace(endpoint, check);
    check->start();
  }
  for (const auto& [endpoint, check] : checks) check->cancel();
  checks.swap(next);
}

HealthChecks::HealthChecks() = default;

HealthChecks::~HealthChecks() {
  if (impl_ == nullptr) return;
  std::latch done(1);
  impl_->room.loop.post([&] {
    impl_->apply({});
    done.count_down();
  });
  done.wait();
  impl_->room.loop.stop();
  impl_->thread.join();
}

void HealthChecks::set(std::vector<Target> targets) {
  if (impl_ == nullptr) {
    if (targets.empty()) return;
    impl_ = std::make_unique<Impl>();
    impl_->thread = std::thread([&loop = impl_->room.loop] { loop.run(); });
  }
  impl_->room.loop.post([&impl = *impl_, next = std::move(targets)]() mutable { impl.apply(std::move(next)); });
}

}  // namespace edge::runtime
