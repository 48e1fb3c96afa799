#include "agent/wan/tunnel/tunnels.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "agent/wan/tunnel/device.h"
#include "agent/wan/tunnel/mtu_probe.h"
#include "agent/wan/tunnel/plan.h"
#include "agent/wan/tunnel/rtnetlink.h"

namespace edge::agent::wan {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kBeat = std::chrono::milliseconds(1000);
/// While something starts, or a session is awaited; for no longer than kBusy after the last change.
constexpr auto kSoon = std::chrono::milliseconds(50);
constexpr auto kBusy = std::chrono::seconds(20);

std::chrono::seconds wall_clock() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
}

/// The first character of a small file of the kernel's; 0: it cannot be read.
char setting(const std::string& path) {
  const net::Fd fd(::open(("/proc/sys/net/" + path).c_str(), O_RDONLY | O_CLOEXEC));
  char value = 0;
  return fd.valid() && ::read(fd.get(), &value, 1) == 1 ? value : '\0';
}

bool is_up(const TunnelDevice& device, std::chrono::seconds wall) {
  return device.link() != 0 && device.state().handshake && wall - *device.state().handshake < kSessionLife;
}

}  // namespace

struct Tunnels::Impl {
  TunnelsOptions options;
  std::optional<Rtnetlink> kernel;
  net::Fd wake;
  std::thread thread;

  mutable std::mutex mutex;  ///< guards what follows
  WantedTunnels wanted;
  std::uint64_t assignment = 0;
  bool fresh = false;  ///< the thread has not taken it
  bool stopping = false;
  bool handed_over = false;
  TunnelsState state;

  // Of the thread.
  WantedTunnels now_wanted;
  Engine engine;
  KeptSlots kept_slots;
  Slots slots;
  std::map<std::string, TunnelDevice> devices;  ///< by name
  std::vector<TunnelDevice> leaving;
  std::map<std::size_t, std::string> carrying;  ///< by tunnel, the name of a device
  MtuProber mtus;
  std::vector<std::string> plan_faults;
  std::vector<std::string> told;
  std::uint64_t taken = 0;
  Clock::time_point busy_until;
  std::vector<Link> links;  ///< as of the last round
  bool given = false;       ///< an assignment has come: until then what an earlier process left stays

  void run();
  void wait(Clock::duration most) const;
  bool take();
  void work();
  void keep_rules();
  void keep_devices();
  void remove_strangers();
  void choose_carriers();
  void probe_mtus();
  void keep_routes();
  ReadyUplink ready(const WantedUplink& uplink);
  void remove_all();
  void publish();
  std::vector<std::string> node_faults() const;
  TunnelState state_of(std::size_t tunnel) const;
  void fail(const std::string& what, const Error& error);
  void wake_up() const {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake.get(), &one, sizeof one);
  }

  std::vector<std::string> faults;  ///< of this round
};

void Tunnels::Impl::wait(Clock::duration most) const {
  pollfd polled{wake.get(), POLLIN, 0};
  ::poll(&polled, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(most).count()));
  std::uint64_t count = 0;
  if (polled.revents == 0) return;
  [[maybe_unused]] const ssize_t size = ::read(wake.get(), &count, sizeof count);
}

bool Tunnels::Impl::take() {
  std::optional<WantedTunnels> next;
  {
    const std::lock_guard lock(mutex);
    if (stopping) return false;
    if (std::exchange(fresh, false)) next = wanted;
    taken = assignment;
  }
  if (!next) return true;
  given = true;
  busy_until = Clock::now() + kBusy;
  now_wanted = std::move(*next);
  slots = assign_slots(now_wanted, kept_slots);
  plan_faults.clear();
  carrying.clear();
  std::map<std::string, TunnelDevice> kept;
  for (PlannedDevice& plan : plan_devices(now_wanted, plan_faults)) {
    const std::string name = plan.name;
    auto found = devices.extract(name);
    if (found.empty()) {
      kept.emplace(name, TunnelDevice(std::move(plan)));
    } else {
      found.mapped().change(std::move(plan));
      kept.insert(std::move(found));
    }
  }
  // Their routes are replaced before they go.
  for (auto& [name, device] : devices) leaving.push_back(std::move(device));
  devices = std::move(kept);
  return true;
}

void Tunnels::Impl::fail(const std::string& what, const Error& error) { faults.push_back(what + ": " + error.text); }

void Tunnels::Impl::run() {
  TunnelDevice::remove_dead_sockets();
  while (take()) {
    if (given) work();
    const std::chrono::seconds wall = wall_clock();
    const bool awaited = std::ranges::any_of(devices, [&](const auto& entry) {
      const TunnelDevice& device = entry.second;
      return device.starting() || (device.link() != 0 && device.fault().empty() && !is_up(device, wall));
    });
    const bool soon = mtus.searching() || (awaited && Clock::now() < busy_until);
    wait(soon ? kSoon : kBeat);
  }
  {
    const std::lock_guard lock(mutex);
    if (handed_over) return devices.clear();
  }
  remove_all();
}

void Tunnels::Impl::work() {
  faults = plan_faults;
  // What drops and what leads nowhere is there before the first link is.
  keep_rules();
  auto list = kernel->links();
  if (!list) return fail("links", list.error());
  // Where links come and go without end, as on a node of many pods, tunnels still have their work.
  net::netlink::update_links(links, std::move(*list));
  const auto now = Clock::now();
  const std::chrono::seconds wall = wall_clock();
  for (auto& [name, device] : devices) {
    device.work(*kernel, links, engine, now_wanted.overlay.address, now_wanted.mtu, now);
    device.look(wall, now);
  }
  choose_carriers();
  probe_mtus();
  keep_routes();
  for (TunnelDevice& device : leaving) device.remove(*kernel);
  leaving.clear();
  remove_strangers();
  publish();
}

/// Those that are ours by their alias and are not planned.
void Tunnels::Impl::remove_strangers() {
  const auto list = kernel->links();
  if (!list) return;
  for (const Link& link : list->links) {
    if (!link.alias.starts_with(kAliasPrefix) || devices.contains(link.name)) continue;
    if (const Status status = kernel->remove_link(link.index); !status) fail("link " + link.name, status.error());
  }
}

/// The newest keys that have a session carry packets; until they have one, those before.
void Tunnels::Impl::choose_carriers() {
  const std::chrono::seconds wall = wall_clock();
  std::map<std::size_t, const TunnelDevice*> best;
  for (const auto& [name, device] : devices) {
    const TunnelDevice*& chosen = best[device.plan().tunnel];
    const auto rank = [&](const TunnelDevice& one) {
      const bool up = is_up(one, wall);
      const auto newness = static_cast<std::int64_t>(one.plan().newness);
      return std::tuple(up, one.link() != 0, up ? newness : -newness);
    };
    if (chosen == nullptr || rank(device) > rank(*chosen)) chosen = &device;
  }
  carrying.clear();
  for (const auto& [tunnel, device] : best) carrying[tunnel] = device->plan().name;
}

/// Of those that carry packets: requests and answers take the way of their marks.
void Tunnels::Impl::probe_mtus() {
  mtus.take_answers();
  const std::chrono::seconds wall = wall_clock();
  for (const auto& [tunnel, name] : carrying) {
    const TunnelDevice& device = devices.at(name);
    const auto peer = std::ranges::find(now_wanted.peers, now_wanted.tunnels[tunnel].peer, &WantedPeer::id);
    if (slots[tunnel] == 0 || !is_up(device, wall) || peer == now_wanted.peers.end()) {
      mtus.forget(name);
      continue;
    }
    mtus.work(name, slot_mark(slots[tunnel]), peer->overlay, now_wanted.mtu, Clock::now());
  }
}

void Tunnels::Impl::keep_rules() {
  const std::vector<Rule> wanted_rules = plan_rules(now_wanted, slots);
  const auto there = kernel->rules();
  if (!there) return fail("rules", there.error());
  for (const Rule& rule : wanted_rules) {
    if (std::ranges::binary_search(*there, rule)) continue;
    const Status status = kernel->add_rule(rule);
    // A node without IPv6 needs no rules for it.
    if (!status && !(rule.v6 && status.error().code == ErrorCode::kUnimplemented)) fail("rules", status.error());
  }
  for (const Rule& rule : *there) {
    if (std::ranges::binary_search(wanted_rules, rule)) continue;
    if (const Status status = kernel->remove_rule(rule); !status) fail("rules", status.error());
  }
}

ReadyUplink Tunnels::Impl::ready(const WantedUplink& uplink) {
  ReadyUplink ready{.number = uplink_number(now_wanted, uplink.id), .source = uplink.address};
  const auto found = uplink.interface.empty()
                         ? std::ranges::find(links, kernel->default_link().value_or(0), &Link::index)
                         : std::ranges::find(links, uplink.interface, &Link::name);
  if (found == links.end() || !found->up) return ready;
  ready.link = found->index;
  if (uplink.gateway) {
    (uplink.gateway->is_v4() ? ready.gateway_v4 : ready.gateway_v6) = uplink.gateway;
  }
  if (!ready.gateway_v4) ready.gateway_v4 = kernel->default_gateway(ready.link, false);
  if (!ready.gateway_v6) ready.gateway_v6 = kernel->default_gateway(ready.link, true);
  return ready;
}

void Tunnels::Impl::keep_routes() {
  std::vector<ReadyDevice> ready_devices;
  const std::chrono::seconds wall = wall_clock();
  for (const auto& [name, device] : devices) {
    const auto carrier = carrying.find(device.plan().tunnel);
    const bool carries = carrier != carrying.end() && carrier->second == name;
    ready_devices.push_back(
        {device.plan().tunnel, device.link(), carries, is_up(device, wall), mtus.mtu(name, now_wanted.mtu)});
  }
  std::vector<ReadyUplink> uplinks;
  for (const WantedUplink& uplink : now_wanted.uplinks) {
    if (uplink_number(now_wanted, uplink.id) != 0) uplinks.push_back(ready(uplink));
  }
  const std::vector<Route> wanted_routes = plan_routes(now_wanted, slots, ready_devices, uplinks);
  auto there = kernel->routes();
  if (!there) return fail("routes", there.error());
  bool added = false;
  for (const Route& route : wanted_routes) {
    if (std::binary_search(there->begin(), there->end(), route)) continue;
    const Status status = kernel->add_route(route);
    added = added || status.ok();
    const bool no_v6 = !status && !route.to.address.is_v4() && status.error().code == ErrorCode::kUnimplemented;
    if (!status && !no_v6) fail("route to " + to_string(route.to), status.error());
  }
  // Those that were replaced are gone.
  if (added) there = kernel->routes();
  if (!there) return fail("routes", there.error());
  for (const Route& route : *there) {
    if (std::binary_search(wanted_routes.begin(), wanted_routes.end(), route)) continue;
    const Status status = kernel->remove_route(route);
    if (!status && status.error().code != ErrorCode::kNotFound) fail("route to " + to_string(route.to), status.error());
  }
}

void Tunnels::Impl::remove_all() {
  for (auto& [name, device] : devices) device.remove(*kernel);
  for (TunnelDevice& device : leaving) device.remove(*kernel);
  devices.clear();
  leaving.clear();
  carrying.clear();
  now_wanted = {};
  slots.clear();
  remove_strangers();
  keep_routes();
  keep_rules();
}

TunnelState Tunnels::Impl::state_of(std::size_t tunnel) const {
  const WantedTunnel& of = now_wanted.tunnels[tunnel];
  TunnelState one{.link = of.link, .peer = of.peer, .peer_link = of.peer_link, .interface = {}, .fault = {}};
  one.slot = slots[tunnel];
  const auto carrier = carrying.find(tunnel);
  if (carrier == carrying.end()) {
    one.fault = "it has no key, or is one too many";
    return one;
  }
  const TunnelDevice& device = devices.at(carrier->second);
  if (device.link() != 0) one.interface = carrier->second;
  one.up = is_up(device, wall_clock());
  one.handshake = device.state().handshake;
  one.endpoint = device.state().endpoint;
  one.mtu = mtus.mtu(carrier->second, now_wanted.mtu);
  one.received = device.state().received;
  one.sent = device.state().sent;
  one.fault = one.slot == 0 ? "there are too many tunnels to that site" : device.fault();
  return one;
}

std::vector<std::string> Tunnels::Impl::node_faults() const {
  std::vector<std::string> all = faults;
  if (now_wanted.site.empty()) return all;
  const bool v4 = std::ranges::any_of(now_wanted.prefixes, [](const Cidr& cidr) { return cidr.address.is_v4(); });
  if (v4 && setting("ipv4/ip_forward") == '0') all.emplace_back("packets are not forwarded: net.ipv4.ip_forward is 0");
  for (const WantedUplink& uplink : now_wanted.uplinks) {
    if (uplink.interface.empty()) continue;
    if (std::ranges::find(links, uplink.interface, &Link::name) == links.end()) {
      all.push_back("link " + uplink.id + ": there is no interface " + uplink.interface);
      continue;
    }
    const char strict =
        std::max(setting("ipv4/conf/all/rp_filter"), setting("ipv4/conf/" + uplink.interface + "/rp_filter"));
    if (strict == '1') {
      all.push_back("link " + uplink.id + ": rp_filter of " + uplink.interface +
                    " is 1, which drops what does not come by the default route; 2 is needed");
    }
  }
  return all;
}

void Tunnels::Impl::publish() {
  TunnelsState next;
  next.assignment = taken;
  for (std::size_t i = 0; i < now_wanted.tunnels.size(); ++i) next.tunnels.push_back(state_of(i));
  for (const auto& [name, device] : devices) {
    if (device.link() != 0) next.devices.push_back({name, device.link(), device.plan().tunnel});
  }
  next.faults = node_faults();
  for (const std::string& fault : next.faults) {
    if (std::ranges::find(told, fault) == told.end()) options.log.warn("SD-WAN: " + fault);
  }
  told = next.faults;
  {
    const std::lock_guard lock(mutex);
    if (next == state) return;
    state = std::move(next);
  }
  if (options.changed) options.changed();
}

Tunnels::Tunnels(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Tunnels>> Tunnels::start(TunnelsOptions options) {
  auto impl = std::make_unique<Impl>();
  auto kernel = Rtnetlink::open();
  if (!kernel) return kernel.error();
  impl->kernel.emplace(std::move(*kernel));
  impl->wake = net::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  impl->options = std::move(options);
  std::unique_ptr<Tunnels> tunnels(new Tunnels(std::move(impl)));
  tunnels->impl_->thread = std::thread([own = tunnels->impl_.get()] { own->run(); });
  return tunnels;
}

Tunnels::~Tunnels() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->wake_up();
  if (impl_->thread.joinable()) impl_->thread.join();
}

std::uint64_t Tunnels::set(WantedTunnels wanted) {
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->assignment != 0 && wanted == impl_->wanted) return impl_->assignment;
    impl_->wanted = std::move(wanted);
    impl_->fresh = true;
    number = ++impl_->assignment;
  }
  impl_->wake_up();
  return number;
}

void Tunnels::hand_over() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->handed_over = impl_->stopping = true;
  }
  impl_->wake_up();
  if (impl_->thread.joinable()) impl_->thread.join();
}

TunnelsState Tunnels::state() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->state;
}

}  // namespace edge::agent::wan
