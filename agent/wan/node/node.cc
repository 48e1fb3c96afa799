#include "agent/wan/node/node.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "agent/wan/steer/shaper.h"
#include "agent/wan/steer/steerer.h"
#include "agent/wan/tunnel/rtnetlink.h"

namespace edge::agent::wan {
namespace {

constexpr auto kBeat = std::chrono::seconds(1);
/// Of a link's bandwidth: what encryption adds to packets takes the rest.
constexpr std::uint64_t kInnerPercent = 93;

/// A link's bandwidth is that of the tunnels over it that carry something, in equal parts.
std::vector<ShapedDevice> shaped(const WantedNode& wanted, const Steering& steering, const TunnelsState& tunnels) {
  // By site, the tunnels that some policy has chosen.
  std::set<std::pair<std::string, std::uint32_t>> chosen;
  for (const SteerPolicy& policy : steering.policies) {
    for (std::size_t site = 0; site < policy.choices.size(); ++site) {
      for (const SteerShare& share : policy.choices[site].shares) {
        chosen.emplace(wanted.tunnels.peers[site].id, share.slot);
      }
    }
  }
  std::map<std::string, std::uint64_t> carrying;
  for (const TunnelState& tunnel : tunnels.tunnels) {
    if (chosen.contains({tunnel.peer, tunnel.slot})) ++carrying[tunnel.link];
  }
  std::vector<ShapedDevice> devices;
  for (const DeviceState& device : tunnels.devices) {
    const std::string& link = tunnels.tunnels[device.tunnel].link;
    const auto uplink = std::ranges::find(wanted.tunnels.uplinks, link, &WantedUplink::id);
    const std::uint64_t mbps = uplink == wanted.tunnels.uplinks.end() ? 0 : uplink->up_mbps;
    const std::uint64_t kbps = mbps * 1000 * kInnerPercent / 100 / std::max<std::uint64_t>(carrying[link], 1);
    devices.push_back({device.name, device.index, kbps});
  }
  return devices;
}

}  // namespace

struct WanNode::Impl {
  NodeOptions options;
  std::unique_ptr<Tunnels> tunnels;
  std::thread thread;

  mutable std::mutex mutex;  ///< guards what follows
  std::condition_variable woken;
  bool wake = false;
  bool stopping = false;
  bool handed_over = false;
  std::optional<WantedNode> wanted;
  NodeChoices choices;
  NodeState state;

  // Of the thread.
  Steerer steerer;
  Shaper shaper;
  std::optional<WantedTunnels> set_tunnels;
  std::uint64_t assignment = 0;  ///< of set_tunnels
  TunnelsState known;            ///< of it, or carried over to its positions
  bool given_up = false;         ///< the rules are removed, since the site was given up
  std::vector<std::string> told;
  GatewayTurns turns;
  std::vector<GatewayTurn> turned;

  void run();
  void work(const WantedNode& now, const NodeChoices& chosen);
  void turn_gateways(const WantedNode& now, const NodeChoices& chosen);
  void publish(NodeState next);
  void wake_up() {
    {
      const std::lock_guard lock(mutex);
      wake = true;
    }
    woken.notify_all();
  }
};

void WanNode::Impl::run() {
  for (;;) {
    std::optional<WantedNode> now;
    NodeChoices chosen;
    {
      std::unique_lock lock(mutex);
      woken.wait_for(lock, kBeat, [&] { return wake || stopping; });
      wake = false;
      if (stopping) break;
      now = wanted;
      chosen = choices;
    }
    if (now) work(*now, chosen);
  }
  {
    const std::lock_guard lock(mutex);
    if (handed_over) return tunnels->hand_over();
  }
  if (options.gateways && !turned.empty()) options.gateways({});
  // What drops goes last.
  tunnels.reset();
  [[maybe_unused]] const Status removed = steerer.remove();
}

void WanNode::Impl::work(const WantedNode& now, const NodeChoices& chosen) {
  NodeState next;
  const auto note = [&](const Status& status) {
    if (!status) next.faults.push_back(status.error().text);
  };
  TunnelsState state_now = tunnels->state();
  if (assignment != 0 && state_now.assignment == assignment) known = std::move(state_now);
  const bool fresh = set_tunnels != now.tunnels;
  if (fresh) known = carry_over(now.tunnels, known);
  const bool leaves = now.tunnels.site.empty();
  Steering steering = make_node_steering(now, chosen, known, next.faults);
  if (!leaves) {
    given_up = false;
    note(steerer.apply(steering));
    note(steerer.keep());
  }
  turn_gateways(now, chosen);
  if (fresh) {
    assignment = tunnels->set(now.tunnels);
    set_tunnels = now.tunnels;
    return;
  }
  const bool gone = leaves && known.devices.empty() && known.assignment == assignment;
  if (gone && !std::exchange(given_up, true)) note(steerer.remove());
  for (std::string& fault : shaper.apply(shaped(now, steering, known))) next.faults.push_back(std::move(fault));
  next.tunnels = known;
  publish(std::move(next));
}

void WanNode::Impl::turn_gateways(const WantedNode& now, const NodeChoices& chosen) {
  std::vector<GatewayTurn> all = turns.take(now, chosen);
  if (all == turned) return;
  turned = std::move(all);
  if (options.gateways) options.gateways(turned);
}

void WanNode::Impl::publish(NodeState next) {
  for (const std::string& fault : next.faults) {
    if (std::ranges::find(told, fault) == told.end()) options.log.warn("SD-WAN: " + fault);
  }
  told = next.faults;
  next.faults.insert(next.faults.end(), next.tunnels.faults.begin(), next.tunnels.faults.end());
  {
    const std::lock_guard lock(mutex);
    if (next == state) return;
    state = std::move(next);
  }
  if (options.changed) options.changed();
}

WanNode::WanNode(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<WanNode>> WanNode::start(NodeOptions options) {
  auto impl = std::make_unique<Impl>();
  Impl* const own = impl.get();
  auto tunnels = Tunnels::start({.log = options.log, .changed = [own] { own->wake_up(); }});
  if (!tunnels) return tunnels.error();
  impl->options = std::move(options);
  impl->tunnels = std::move(*tunnels);
  std::unique_ptr<WanNode> node(new WanNode(std::move(impl)));
  own->thread = std::thread([own] { own->run(); });
  return node;
}

bool WanNode::has_leftovers() {
  auto kernel = Rtnetlink::open();
  if (!kernel) return false;
  const auto rules = kernel->rules();
  return rules && !rules->empty();
}

WanNode::~WanNode() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->woken.notify_all();
  if (impl_->thread.joinable()) impl_->thread.join();
}

void WanNode::set(WantedNode wanted) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->wanted == wanted) return;
    impl_->choices = impl_->wanted ? carry_over(*impl_->wanted, wanted, impl_->choices) : NodeChoices();
    impl_->wanted = std::move(wanted);
  }
  impl_->wake_up();
}

void WanNode::choose(NodeChoices choices) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->choices == choices) return;
    impl_->choices = std::move(choices);
  }
  impl_->wake_up();
}

void WanNode::hand_over() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->handed_over = impl_->stopping = true;
  }
  impl_->woken.notify_all();
  if (impl_->thread.joinable()) impl_->thread.join();
}

NodeState WanNode::state() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->state;
}

}  // namespace edge::agent::wan
