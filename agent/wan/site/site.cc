#include "agent/wan/site/site.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace edge::agent::wan {
namespace {

/// A node that lacks the right to make tunnels may get it.
constexpr auto kStartAgain = std::chrono::seconds(10);

}  // namespace

struct Site::Impl {
  explicit Impl(SiteOptions given) : options(std::move(given)) {}

  SiteOptions options;
  std::unique_ptr<Measurer> measurer;
  mutable std::mutex mutex;  ///< guards what follows
  std::condition_variable wake;
  SiteAssignment assignment;
  bool active = false;
  bool stale = false;     ///< assignment or activity are others
  bool happened = false;  ///< something of the node or the measurements is another
  bool stopping = false;
  std::string node_fault;
  std::shared_ptr<WanNode> node;  ///< null: it has none to set up, or may not
  std::atomic<std::uint64_t> changes = 0;
  std::thread thread;

  // Of the thread.
  std::vector<std::string> interfaces;  ///< of tunnels, as the measurer knows them
  NodeChoices choices;
  std::chrono::steady_clock::time_point next_start{};

  void note() {
    {
      const std::lock_guard lock(mutex);
      happened = true;
    }
    ++changes;
    wake.notify_all();
    if (options.changed) options.changed();
  }
  void stop();
  void run();
  void apply(const SiteAssignment& wanted);
  void start_node(const SiteAssignment& wanted);
  void follow(const SiteAssignment& wanted);
};

void Site::Impl::run() {
  std::unique_lock lock(mutex);
  SiteAssignment wanted;
  while (!stopping) {
    wake.wait_for(lock, std::chrono::seconds(1), [this] { return stale || happened || stopping; });
    if (stopping) return;
    const bool anew = std::exchange(stale, false);
    happened = false;
    if (anew) wanted = active ? assignment : SiteAssignment{};
    lock.unlock();
    if (anew) apply(wanted);
    follow(wanted);
    lock.lock();
  }
}

/// Tunnels need CAP_NET_ADMIN; links are measured without it.
void Site::Impl::start_node(const SiteAssignment& wanted) {
  const auto now = std::chrono::steady_clock::now();
  const bool needed = !wanted.node.tunnels.site.empty() || WanNode::has_leftovers();
  if (node != nullptr || !needed || now < next_start) return;
  next_start = now + kStartAgain;
  auto started = WanNode::start({.log = options.log, .changed = [this] { note(); }, .gateways = options.gateways});
  const std::lock_guard lock(mutex);
  if (started) {
    node = std::move(*started);
    node_fault.clear();
    return;
  }
  if (node_fault != started.error().text) options.log.error("no tunnels: " + started.error().text);
  node_fault = started.error().text;
}

void Site::Impl::apply(const SiteAssignment& wanted) {
  start_node(wanted);
  choices = {};
  interfaces.assign(wanted.node.tunnels.tunnels.size(), std::string());
  if (node != nullptr) node->set(wanted.node);
  measurer->set(wanted.measured);
  ++changes;
}

/// Tunnels are measured where they are now, and traffic takes those that were chosen.
void Site::Impl::follow(const SiteAssignment& wanted) {
  if (node == nullptr && !wanted.node.tunnels.site.empty()) {
    start_node(wanted);
    if (node != nullptr) node->set(wanted.node);
  }
  if (node == nullptr) return;
  const NodeState state = node->state();
  std::vector<std::string> now(wanted.measured.tunnels.size());
  for (std::size_t i = 0; i < now.size() && i < state.tunnels.tunnels.size(); ++i) {
    const TunnelState& tunnel = state.tunnels.tunnels[i];
    const MeasuredTunnel& measured = wanted.measured.tunnels[i];
    // Until the node has taken the assignment it reports on the one before.
    if (tunnel.link == measured.link && tunnel.peer_link == measured.peer_link) now[i] = tunnel.interface;
  }
  if (now != interfaces) {
    interfaces = now;
    Measured measured = wanted.measured;
    for (std::size_t i = 0; i < now.size(); ++i) measured.tunnels[i].interface = now[i];
    measurer->set(std::move(measured));
  }
  const MeasuredState found = measurer->state();
  NodeChoices next;
  for (const PathReport& tunnel : found.tunnels) next.alive.push_back(tunnel.alive || !tunnel.measured);
  for (std::size_t i = 0; i < found.policies.size(); ++i) {
    const PolicyReport& from = found.policies[i];
    const auto policy = std::ranges::find(wanted.node.policies, from.policy, &WantedPolicy::id);
    if (policy == wanted.node.policies.end() || (from.tunnels.empty() && !from.dropped)) continue;
    NodeChoice& choice = next.choices.emplace_back();
    choice.policy = static_cast<std::size_t>(policy - wanted.node.policies.begin());
    choice.peer = from.peer_site;
    choice.dropped = from.dropped;
    for (std::size_t p = 0; p < from.tunnels.size(); ++p) choice.paths.push_back({from.tunnels[p], from.weights[p]});
  }
  if (next == choices) return;
  choices = next;
  node->choose(std::move(next));
}

Site::Site(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

void Site::Impl::stop() {
  {
    const std::lock_guard lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  if (thread.joinable()) thread.join();
}

void Site::hand_over() {
  impl_->stop();
  if (impl_->node != nullptr) impl_->node->hand_over();
  // The other process is to have the reflector's port.
  impl_->measurer->set({});
}

Site::~Site() {
  impl_->stop();
  // Who calls back goes before what is called.
  impl_->measurer.reset();
  impl_->node.reset();
}

Result<std::unique_ptr<Site>> Site::start(SiteOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  Impl* const own = impl.get();
  auto measurer = Measurer::start({.log = own->options.log, .changed = [own] { own->note(); }});
  if (!measurer) return measurer.error();
  impl->measurer = std::move(*measurer);
  impl->thread = std::thread([own] { own->run(); });
  return std::unique_ptr<Site>(new Site(std::move(impl)));
}

void Site::set(SiteAssignment assignment) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->assignment = std::move(assignment);
    impl_->stale = true;
  }
  impl_->wake.notify_all();
}

void Site::set_active(bool active) {
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->active == active) return;
    impl_->active = active;
    impl_->stale = true;
  }
  impl_->wake.notify_all();
}

SiteState Site::state() const {
  SiteState state;
  std::shared_ptr<WanNode> node;
  {
    const std::lock_guard lock(impl_->mutex);
    state.active = impl_->active && !impl_->assignment.node.tunnels.site.empty();
    state.assignment = impl_->assignment;
    node = impl_->node;
    if (!impl_->node_fault.empty()) state.faults.push_back(impl_->node_fault);
  }
  if (!state.assignment.fault.empty()) state.faults.push_back(state.assignment.fault);
  state.measured = impl_->measurer->state();
  if (!state.measured.fault.empty()) state.faults.push_back("probes are not answered: " + state.measured.fault);
  if (node != nullptr) state.node = node->state();
  state.faults.insert(state.faults.end(), state.node.faults.begin(), state.node.faults.end());
  return state;
}

std::uint64_t Site::version() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->assignment.version;
}

std::uint64_t Site::changes() const { return impl_->changes; }

}  // namespace edge::agent::wan
