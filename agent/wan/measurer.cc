#include "agent/wan/measurer.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include <unistd.h>

#include "agent/wan/policy_choices.h"
#include "agent/wan/timer_wheel.h"
#include "base/hash.h"

namespace edge::agent::wan {
namespace {

/// How often choices are made though nothing seems to have happened: what has lasted long enough is seen then.
constexpr Time kDecideEvery = std::chrono::milliseconds(50);
constexpr Time kOpenAgain = std::chrono::seconds(1);
constexpr std::uint64_t kWake = std::uint64_t{1} << 63U;
constexpr std::uint64_t kReflect = kWake + 1;

bool limits_equal(const Limits& one, const Limits& other) {
  return one.loss == other.loss && one.latency == other.latency && one.jitter == other.jitter;
}

/// Of a path, as it is found again in another assignment.
std::string path_name(const MeasuredTunnel& tunnel, bool outside) {
  return (outside ? "outside " : "tunnel ") + tunnel.link + " " + tunnel.peer_link;
}

}  // namespace

struct Measurer::Impl {
  /// A path and what needs it.
  struct Wanted {
    PathSpec spec;
    std::vector<Limits> limits;
  };
  struct Kept {
    std::unique_ptr<ProbePath> path;
    std::uint32_t id = 0;
    bool alive = false;
    Fault fault = Fault::kNone;
  };

  explicit Impl(MeasurerOptions given) : options(std::move(given)), wheel(boot_now()) {}

  MeasurerOptions options;
  net::Fd epoll;
  net::Fd wake;
  mutable std::mutex mutex;  ///< guards all that follows
  std::condition_variable taken;
  std::optional<Measured> next;  ///< to be taken by the thread, whose network namespace is that of its sockets
  bool stopping = false;
  std::uint64_t version = 0;
  Measured measured;
  std::map<std::string, Kept> paths;  ///< by name
  std::map<std::uint32_t, ProbePath*> by_id;
  /// Of each tunnel its path, and the limits that this knows of. Null: its link is off.
  struct OfTunnel {
    const ProbePath* path = nullptr;
    const std::vector<Limits>* limits = nullptr;
  };
  std::vector<OfTunnel> of_tunnel;
  std::vector<std::vector<std::string>> of_link;  ///< names of the paths that tell of each link
  std::map<std::string, std::vector<Limits>> limits_of_path;
  std::uint32_t last_id = 0;
  TimerWheel<std::uint32_t> wheel;
  PolicyChoices choices;
  std::optional<Reflector> reflector;
  std::uint16_t reflector_port = 0;
  Time reflector_due{};
  std::string reflector_fault;
  Time decide_due{};
  bool dirty = false;  ///< something happened to a path
  std::thread thread;

  void run();
  void wait(Time until);
  void step(Time now);
  void take(Measured from);
  std::map<std::string, Wanted> wanted_paths();
  void want_tunnel(const MeasuredTunnel& tunnel, const MeasuredLink& link, std::map<std::string, Wanted>& wanted);
  void open_reflector(Time now);
  bool decide(Time now);
  bool note(Kept& kept);
  const ProbePath* find(const std::string& name) const;
  const ProbePath* best_of(std::size_t link) const;
  PathState tunnel_state(std::size_t tunnel, const Limits& limits) const;
  PathReport report_of(const ProbePath* path) const;
  void set_sessions();
};

namespace {

const MeasuredLink* link_of(const Measured& measured, const std::string& id) {
  const auto found = std::ranges::find(measured.links, id, &MeasuredLink::id);
  return found == measured.links.end() ? nullptr : &*found;
}

}  // namespace

void Measurer::Impl::want_tunnel(const MeasuredTunnel& tunnel, const MeasuredLink& link,
                                 std::map<std::string, Wanted>& wanted) {
  // The link's own limits come first.
  std::vector<Limits> limits = {link.limits};
  for (const MeasuredPolicy& policy : measured.policies) {
    if (std::ranges::find(policy.links, link.id) == policy.links.end()) continue;
    const Limits both = narrower(policy.limits, link.limits);
    if (std::ranges::none_of(limits, [&](const Limits& one) { return limits_equal(one, both); }))
      limits.push_back(both);
  }
  Wanted& inside = wanted[path_name(tunnel, false)];
  inside.spec = {.route = {.interface = tunnel.interface,
                           .own = measured.overlay,
                           .to = {tunnel.peer_overlay, measured.reflector_port}},
                 .there = !tunnel.interface.empty(),
                 .session = tunnel.query_session,
                 .key = tunnel.query_key,
                 .probe = link.probe};
  inside.limits = std::move(limits);
  if (!tunnel.outside || link.kind != ProbeKind::kStamp) return;
  Wanted& outside = wanted[path_name(tunnel, true)];
  outside.spec = {.route = {.interface = link.interface, .to = {*tunnel.outside, measured.reflector_port}},
                  .session = static_cast<std::uint16_t>(tunnel.query_session + kOutsideSession),
                  .key = tunnel.query_key,
                  .probe = link.probe};
  outside.limits = {link.limits};
}

std::map<std::string, Measurer::Impl::Wanted> Measurer::Impl::wanted_paths() {
  std::map<std::string, Wanted> wanted;
  of_link.assign(measured.links.size(), {});
  for (const MeasuredTunnel& tunnel : measured.tunnels) {
    const MeasuredLink* const link = link_of(measured, tunnel.link);
    if (link == nullptr || !link->enabled) continue;
    want_tunnel(tunnel, *link, wanted);
    if (link->kind != ProbeKind::kStamp) continue;
    auto& names = of_link[static_cast<std::size_t>(link - measured.links.data())];
    names.push_back(path_name(tunnel, false));
    if (tunnel.outside) names.push_back(path_name(tunnel, true));
  }
  for (std::size_t i = 0; i < measured.links.size(); ++i) {
    const MeasuredLink& link = measured.links[i];
    if (link.kind == ProbeKind::kStamp || !link.enabled) continue;
    for (const IpAddress& target : link.targets) {
      const std::string name = "target " + link.id + " " + to_string(target);
      Wanted& one = wanted[name];
      one.spec = {.kind = link.kind,
                  .route = {.interface = link.interface, .to = {target, link.target_port}},
                  .probe = link.probe};
      one.limits = {link.limits};
      of_link[i].push_back(name);
    }
  }
  return wanted;
}

void Measurer::Impl::take(Measured from) {
  measured = std::move(from);
  std::map<std::string, Wanted> wanted = wanted_paths();
  std::erase_if(paths, [&](const auto& entry) {
    const bool gone = !wanted.contains(entry.first);
    if (gone) by_id.erase(entry.second.id);
    return gone;
  });
  limits_of_path.clear();
  const Time now = boot_now();
  for (auto& [name, one] : wanted) {
    limits_of_path[name] = one.limits;
    Kept& kept = paths[name];
    if (kept.path != nullptr) {
      kept.path->change(std::move(one.spec), std::move(one.limits));
      continue;
    }
    kept.id = ++last_id;
    const Time interval = one.spec.probe.interval;
    kept.path = std::make_unique<ProbePath>(std::move(one.spec), std::move(one.limits), epoll.get(), kept.id);
    by_id[kept.id] = kept.path.get();
    // Spread over the interval, so that many are not sent at once.
    wheel.add(now + interval * static_cast<std::int64_t>(hash_bytes(1, name) % 1024) / 1024, kept.id);
  }
  of_tunnel.clear();
  for (const MeasuredTunnel& tunnel : measured.tunnels) {
    const std::string name = path_name(tunnel, false);
    const auto limits = limits_of_path.find(name);
    of_tunnel.push_back({find(name), limits == limits_of_path.end() ? nullptr : &limits->second});
  }
  choices.set(measured);
  if (measured.tunnels.empty() || reflector_port != measured.reflector_port) reflector.reset();
  reflector_port = measured.reflector_port;
  open_reflector(now);
  set_sessions();
  ++version;
  dirty = true;
}

/// A port that another process has may be free later.
void Measurer::Impl::open_reflector(Time now) {
  reflector_due = now + kOpenAgain;
  if (reflector || measured.tunnels.empty()) return;
  auto opened = Reflector::open(reflector_port);
  if (!opened) {
    if (reflector_fault != opened.error().text) {
      options.log.error("probes of other sites are not answered: " + opened.error().text);
    }
    reflector_fault = opened.error().text;
    return;
  }
  reflector_fault.clear();
  reflector = std::move(*opened);
  set_sessions();
  epoll_event event{.events = EPOLLIN, .data = {.u64 = kReflect}};
  ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, reflector->fd(), &event);
}

void Measurer::Impl::set_sessions() {
  if (!reflector) return;
  std::vector<AnswerSession> answers;
  for (const MeasuredTunnel& tunnel : measured.tunnels) {
    answers.push_back({tunnel.answer_session, tunnel.answer_key});
    answers.push_back({static_cast<std::uint16_t>(tunnel.answer_session + kOutsideSession), tunnel.answer_key});
  }
  reflector->set_sessions(answers);
}

const ProbePath* Measurer::Impl::find(const std::string& name) const {
  const auto found = paths.find(name);
  return found == paths.end() ? nullptr : found->second.path.get();
}

/// Of the paths over a link the best tells of the link: what is wrong with another may be at its far end.
const ProbePath* Measurer::Impl::best_of(std::size_t link) const {
  const ProbePath* best = nullptr;
  const auto rank = [](const ProbePath& path) {
    return std::tuple(!path.meter().alive(), path.fitness(0).fault() != Fault::kNone, path.quality().loss,
                      path.quality().latency);
  };
  for (const std::string& name : of_link[link]) {
    const ProbePath* const path = find(name);
    if (path != nullptr && (best == nullptr || rank(*path) < rank(*best))) best = path;
  }
  return best;
}

PathState Measurer::Impl::tunnel_state(std::size_t tunnel, const Limits& limits) const {
  const OfTunnel& known = of_tunnel[tunnel];
  if (known.path == nullptr) return {.fault = Fault::kDisabled};
  const auto at = std::ranges::find_if(*known.limits, [&](const Limits& one) { return limits_equal(one, limits); });
  return known.path->state(at == known.limits->end() ? 0 : static_cast<std::size_t>(at - known.limits->begin()));
}

bool Measurer::Impl::note(Kept& kept) {
  const bool alive = kept.path->meter().alive();
  const Fault fault = kept.path->fitness(0).fault();
  const bool changed = alive != kept.alive || fault != kept.fault;
  kept.alive = alive;
  kept.fault = fault;
  return changed;
}

bool Measurer::Impl::decide(Time now) {
  decide_due = now + kDecideEvery;
  dirty = false;
  bool changed = false;
  for (auto& [name, kept] : paths) changed = note(kept) || changed;
  changed =
      choices.step([this](std::size_t tunnel, const Limits& limits) { return tunnel_state(tunnel, limits); }, now) ||
      changed;
  if (changed) ++version;
  return changed;
}

void Measurer::Impl::step(Time now) {
  for (const std::uint32_t id : wheel.take(now)) {
    const auto found = by_id.find(id);
    if (found == by_id.end()) continue;
    found->second->send(now);
    wheel.add(now + found->second->spec().probe.interval, id);
  }
  if (now >= reflector_due) open_reflector(now);
}

void Measurer::Impl::wait(Time until) {
  std::array<epoll_event, 256> events;
  const Time left = std::max(Time::zero(), until - boot_now());
  const timespec patience{.tv_sec = left.count() / 1'000'000'000, .tv_nsec = left.count() % 1'000'000'000};
  const int count = ::epoll_pwait2(epoll.get(), events.data(), static_cast<int>(events.size()), &patience, nullptr);
  const std::lock_guard lock(mutex);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t data = events[static_cast<std::size_t>(i)].data.u64;
    if (data == kWake) {
      std::uint64_t ignored = 0;
      [[maybe_unused]] const ssize_t read = ::read(wake.get(), &ignored, sizeof ignored);
    } else if (data == kReflect) {
      if (reflector) reflector->work();
    } else if (const auto found = by_id.find(static_cast<std::uint32_t>(data >> 32U)); found != by_id.end()) {
      found->second->ready(static_cast<int>(data & 0xffff'ffffU));
    }
  }
}

void Measurer::Impl::run() {
  for (;;) {
    Time until{};
    bool changed = false;
    {
      const std::lock_guard lock(mutex);
      if (stopping) return;
      if (next) {
        take(*std::exchange(next, std::nullopt));
        taken.notify_all();
      }
      const Time now = boot_now();
      step(now);
      if (dirty || now >= decide_due) changed = decide(now);
      until = std::min(wheel.next(now, std::chrono::milliseconds(100)), decide_due);
    }
    if (changed && options.changed) options.changed();
    wait(until);
  }
}

PathReport Measurer::Impl::report_of(const ProbePath* path) const {
  if (path == nullptr) return {};
  const PathState state = path->state(0);
  PathReport report{.measured = state.measured,
                    .alive = path->meter().alive(),
                    .fault = state.measured ? state.fault : Fault::kNone,
                    .quality = path->quality(),
                    .last_answer_ms = path->last_answer_ms(),
                    .cannot = path->fault()};
  if (state.since != Time::zero()) report.since_ms = (wall_now() - (boot_now() - state.since).count()) / 1'000'000;
  return report;
}

Measurer::Measurer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Measurer::~Measurer() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(impl_->wake.get(), &one, sizeof one);
  impl_->thread.join();
}

Result<std::unique_ptr<Measurer>> Measurer::start(MeasurerOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  impl->epoll = net::Fd(::epoll_create1(EPOLL_CLOEXEC));
  impl->wake = net::Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  epoll_event event{.events = EPOLLIN, .data = {.u64 = kWake}};
  if (!impl->epoll.valid() || !impl->wake.valid() ||
      ::epoll_ctl(impl->epoll.get(), EPOLL_CTL_ADD, impl->wake.get(), &event) != 0) {
    return Error{ErrorCode::kResourceExhausted, std::string("probes: ") + std::strerror(errno)};
  }
  impl->thread = std::thread([own = impl.get()] { own->run(); });
  return std::unique_ptr<Measurer>(new Measurer(std::move(impl)));
}

void Measurer::set(Measured measured) {
  std::unique_lock lock(impl_->mutex);
  impl_->next = std::move(measured);
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(impl_->wake.get(), &one, sizeof one);
  impl_->taken.wait(lock, [this] { return !impl_->next; });
}

MeasuredState Measurer::state() const {
  const std::lock_guard lock(impl_->mutex);
  MeasuredState state{.version = impl_->version, .fault = impl_->reflector_fault};
  for (std::size_t i = 0; i < impl_->measured.links.size(); ++i) {
    state.links.push_back(impl_->report_of(impl_->best_of(i)));
    if (!impl_->measured.links[i].enabled) state.links.back().fault = Fault::kDisabled;
  }
  for (const MeasuredTunnel& tunnel : impl_->measured.tunnels) {
    state.tunnels.push_back(impl_->report_of(impl_->find(path_name(tunnel, false))));
  }
  state.policies = impl_->choices.reports();
  if (impl_->reflector) state.reflector = impl_->reflector->figures();
  return state;
}

}  // namespace edge::agent::wan
