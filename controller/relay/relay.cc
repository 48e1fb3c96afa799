#include "controller/relay/relay.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <utility>
#include <variant>

#include "base/os/file.h"
#include "controller/authority/remote_identity.h"
#include "controller/distribute/distributor.h"
#include "controller/kube/backoff.h"
#include "controller/relay/agent_changes.h"
#include "controller/relay/answers.h"
#include "controller/relay/hub_session.h"
#include "controller/relay/kept_groups.h"
#include "controller/relay/site_group.h"
#include "controller/relay/wanted_queue.h"
#include "schemas/relay.pb.h"

namespace edge::controller::relay {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxIdentityBytes = 64 << 10;
/// Parts that wait to be put together: the stream stands still meanwhile.
constexpr std::size_t kMostParts = 16;
constexpr std::size_t kHashesAMessage = 8192;
constexpr net::Duration kFirstPause = 250ms;
constexpr net::Duration kLongestPause = 10s;
constexpr auto kTick = 1s;
/// Agents answer one after the other: what they say within so long is told together.
constexpr auto kGatherChanges = 50ms;
constexpr auto kWelcomePatience = 15s;

/// Of this relay, not of the hub: kept, so that the hub tells it from another that has its name.
Result<std::string> relay_uid(const std::string& path) {
  if (auto kept = read_file(path, 64); kept && kept->size() == 32) return kept;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::random_device random;
  std::string uid;
  for (int i = 0; i < 32; ++i) uid += kDigits[random() % 16];
  if (Status status = write_file(path, std::string_view(uid), FileAccess::kOwnerOnly); !status) return status.error();
  return uid;
}

Result<RemoteIdentity> identity_in(const std::string& path) {
  const auto text = read_file(path, kMaxIdentityBytes);
  return text ? read_remote_identity(*text) : Result<RemoteIdentity>(text.error());
}

/// What agents verify programs with. It comes with the join file, and never by the network.
Result<std::string> program_key_of(const RelayOptions& options) {
  const std::string kept = options.data_dir + "/hub.pem";
  auto identity = identity_in(options.hub_join.empty() ? kept : options.hub_join);
  if (!identity) {
    // Once it has connected it needs the file no more.
    if (auto known = identity_in(kept)) identity = std::move(known);
  }
  if (!identity) return Error{identity.error().code, "--relay needs --hub-join FILE: " + identity.error().text};
  if (identity->program_key.empty()) {
    return Error{
        ErrorCode::kFailedPrecondition,
        "the join file does not say which key the hub signs programs with: its edgectl or controller is older"};
  }
  return identity->program_key;
}

}  // namespace

struct Relay::Impl {
  explicit Impl(RelayOptions given) : options(std::move(given)) {}

  using Part = std::variant<v1::ProgramsDown, v1::ValuesDown>;

  const RelayOptions options;
  std::unique_ptr<SectionStore> sections;
  std::optional<KeptGroups> kept;
  std::unique_ptr<Distributor> distributor;
  std::unique_ptr<remote::Spoke> spoke;
  std::thread thread;

  // Of the thread; `groups` is changed under the mutex.
  std::map<std::string, std::unique_ptr<SiteGroup>> groups;
  std::string logged;
  std::shared_ptr<AnswerQueue> answers;  ///< of the session
  std::thread telling;                   ///< likewise

  mutable std::mutex mutex;  ///< guards what follows
  std::condition_variable changed;
  bool stopping = false;
  std::deque<Part> parts;
  std::optional<Error> ended;
  std::deque<std::string> groups_came;
  bool agents_changed = false;
  bool answered = false;
  bool asked = false;  ///< clients ask agents for names
  WantedQueue wanted;
  bool in_session = false;
  std::uint64_t sessions = 0;
  std::uint64_t programs_taken = 0;
  std::optional<std::chrono::steady_clock::time_point> behind_since;

  Status open();
  remote::Report own();
  void run();
  Status session();
  Status work(HubSession& session);
  void tell_agents(HubSession& session);
  bool tell_wanted(HubSession& session);
  bool put(Part part);
  void end(const Error& why);
  Status hear(HubSession& session, v1::ProgramsDown& down, bool& welcomed);
  Status hear(v1::ValuesDown& down);
  bool say_holdings(HubSession& session) const;
  bool want(HubSession& session, const SiteGroup& group) const;
  SiteGroup& group_named(const std::string& name);
  void take_groups(HubSession* session);
  bool stopped() const {
    const std::lock_guard lock(mutex);
    return stopping;
  }
};

Status Relay::Impl::open() {
  auto key = program_key_of(options);
  if (!key) return key.error();
  const std::string directory = options.data_dir + "/relay";
  auto store = SectionStore::open(directory + "/sections", options.most_section_bytes, options.log);
  if (!store) return store.error();
  sections = std::move(*store);
  auto opened = KeptGroups::open(directory + "/groups");
  if (!opened) return opened.error();
  kept.emplace(std::move(*opened));
  auto uid = relay_uid(directory + "/uid");
  if (!uid) return uid.error();
  auto started = Distributor::start({.listen = options.listen,
                                     .listen_flag = options.listen_flag,
                                     .data_dir = options.data_dir,
                                     .program_key = std::move(*key),
                                     .log = options.log,
                                     .group_label = options.group_label,
                                     .group_came =
                                         [this](const std::string& group) {
                                           const std::lock_guard lock(mutex);
                                           groups_came.push_back(group);
                                           changed.notify_all();
                                         },
                                     .wanted =
                                         [this](std::vector<WantedName> names) {
                                           const std::lock_guard lock(mutex);
                                           wanted.add(std::move(names), std::chrono::steady_clock::now());
                                           asked = true;
                                           changed.notify_all();
                                         },
                                     .own_pages =
                                         [this](const AgentQuestion& question, const TakeAnswer& take) {
                                           if (options.own_pages) return take(options.own_pages(question));
                                           take(Error{ErrorCode::kUnimplemented, "this relay has no pages of its own"});
                                         },
                                     // Agents join anew by the file that the relay writes.
                                     .replace_early = true,
                                     .fixes_program_key = true});
  if (!started) return started.error();
  distributor = std::move(*started);
  for (const std::string& name : kept->groups()) group_named(name).restore(*distributor);
  distributor->on_change([this] {
    const std::lock_guard lock(mutex);
    agents_changed = true;
    changed.notify_all();
  });
  auto connected = remote::Spoke::start({.hub = options.hub,
                                         .join_file = options.hub_join,
                                         .data_dir = options.data_dir,
                                         .cluster_uid = std::move(*uid),
                                         .version = EDGE_VERSION,
                                         .own = [this] { return own(); },
                                         .changed = [this] { changed.notify_all(); },
                                         .log = options.log});
  if (!connected) return connected.error();
  spoke = std::move(*connected);
  thread = std::thread([this] { run(); });
  return {};
}

/// As a controller tells of its own agents. What the hub has published is what counts: without a session with it nobody
/// here knows that, and while a program is on its way agents run an older one.
remote::Report Relay::Impl::own() {
  std::set<std::string> behind;
  bool knows = false;
  {
    const std::lock_guard lock(mutex);
    knows = in_session;
    for (const auto& [name, group] : groups) {
      if (group->is_behind()) behind.insert(name);
    }
  }
  remote::Report report;
  for (const AgentState& agent : distributor->agents()) {
    ++report.agents;
    const bool current = knows && !behind.contains(agent.group);
    if (current && agent.connected && !agent.program.empty() && agent.program == agent.published) ++report.ready;
    if (report.program.empty() && !agent.published.empty()) report.program = agent.published;
  }
  const std::lock_guard lock(mutex);
  const auto now = std::chrono::steady_clock::now();
  if (report.ready == report.agents) behind_since.reset();
  if (report.ready != report.agents && !behind_since) behind_since = now;
  if (behind_since) report.lag = std::chrono::duration_cast<std::chrono::milliseconds>(now - *behind_since);
  return report;
}

SiteGroup& Relay::Impl::group_named(const std::string& name) {
  const std::lock_guard lock(mutex);
  std::unique_ptr<SiteGroup>& group = groups[name];
  if (group == nullptr) group = std::make_unique<SiteGroup>(name, *sections, *kept, options.log);
  return *group;
}

/// `session` null: there is none, and the next one wants them all.
void Relay::Impl::take_groups(HubSession* session) {
  std::deque<std::string> came;
  {
    const std::lock_guard lock(mutex);
    came.swap(groups_came);
  }
  for (const std::string& name : came) {
    if (groups.contains(name) || groups.size() >= kMostSiteGroups) continue;
    const SiteGroup& group = group_named(name);
    if (session != nullptr) want(*session, group);
  }
}

/// From a thread of the session. False: it ends.
bool Relay::Impl::put(Part part) {
  std::unique_lock lock(mutex);
  changed.wait(lock, [this] { return stopping || ended || parts.size() < kMostParts; });
  if (stopping || ended) return false;
  parts.push_back(std::move(part));
  changed.notify_all();
  return true;
}

void Relay::Impl::end(const Error& why) {
  const std::lock_guard lock(mutex);
  if (!ended) ended = why;
  changed.notify_all();
}

bool Relay::Impl::say_holdings(HubSession& session) const {
  const std::vector<program::Hash> hashes = sections->held();
  std::size_t at = 0;
  do {
    v1::ProgramsUp up;
    auto& holdings = *up.mutable_holdings();
    for (std::size_t i = 0; i < kHashesAMessage && at < hashes.size(); ++i, ++at) {
      holdings.add_sections(hashes[at].data(), hashes[at].size());
    }
    holdings.set_last(at == hashes.size());
    if (!session.say(up)) return false;
  } while (at < hashes.size());
  return true;
}

bool Relay::Impl::want(HubSession& session, const SiteGroup& group) const {
  v1::ProgramsUp program;
  program.mutable_wanted()->set_group(group.name());
  program.mutable_wanted()->set_program(group.program_bytes());
  v1::ValuesUp values;
  values.set_wanted(group.name());
  return session.say(program) && session.say(values);
}

Status Relay::Impl::hear(HubSession& session, v1::ProgramsDown& down, bool& welcomed) {
  const Error over{ErrorCode::kUnavailable, "the hub has ended the stream"};
  if (down.has_welcome() && !welcomed) {
    welcomed = true;
    {
      const std::lock_guard lock(mutex);
      in_session = true;
      ++sessions;
    }
    session.open_others();
    telling = std::thread([this, &session] { tell_agents(session); });
    const bool lacks = std::ranges::any_of(groups, [](const auto& group) {
      return group.second->is_broken_off() || group.second->program_bytes().empty();
    });
    if (lacks && !say_holdings(session)) return over;
    for (const auto& [name, group] : groups) {
      if (!want(session, *group)) return over;
    }
    return {};
  }
  if (down.has_refused()) {
    options.log.error("agents of a group get no program",
                      {{"group", down.refused().group()}, {"reason", down.refused().reason()}});
  }
  if (down.tell_holdings() && !say_holdings(session)) return over;
  if (!down.has_part()) return {};
  const auto group = groups.find(down.part().group());
  if (group == groups.end()) return Error{ErrorCode::kInvalidArgument, "the hub sends what was not asked for"};
  const auto whole = group->second->take(down.part().part(), *distributor);
  if (!whole) return whole.error();
  if (!*whole) return {};
  {
    const std::lock_guard lock(mutex);
    ++programs_taken;
  }
  v1::ProgramsUp up;
  up.mutable_taken()->set_group(group->first);
  up.mutable_taken()->set_program(group->second->program_bytes());
  return session.say(up) ? Status() : Status(over);
}

Status Relay::Impl::hear(v1::ValuesDown& down) {
  const auto group = groups.find(down.group());
  if (group == groups.end()) return Error{ErrorCode::kInvalidArgument, "the hub sends what was not asked for"};
  return group->second->take(down.part(), *distributor);
}

/// False: the session ends.
bool Relay::Impl::tell_wanted(HubSession& session) {
  for (;;) {
    std::vector<WantedName> names;
    {
      const std::lock_guard lock(mutex);
      names = wanted.take(std::chrono::steady_clock::now());
    }
    if (names.empty()) return true;
    v1::AgentsUp up;
    for (WantedName& one : names) {
      auto& into = *up.add_wanted();
      into.set_namespace_(std::move(one.name_space));
      into.set_secret(std::move(one.secret));
      into.set_host(std::move(one.host));
      into.set_served(one.served);
    }
    if (!session.say(up)) return false;
  }
}

/// On a thread of its own, which the hub's reading may hold up.
void Relay::Impl::tell_agents(HubSession& session) {
  AgentChanges changes(*distributor, [this](const AgentState& state) {
    const std::lock_guard lock(mutex);
    const auto group = groups.find(state.group);
    return group == groups.end() ? 0 : group->second->hub_version(state.values);
  });
  const auto say = [&](const v1::AgentsUp& up) { return session.say(up); };
  for (;;) {
    if (!answers->tell(say) || !tell_wanted(session) || !changes.tell(AgentChanges::Clock::now(), say)) return;
    std::unique_lock lock(mutex);
    changed.wait_for(lock, kTick, [&] { return stopping || ended || agents_changed || answered || asked; });
    if (stopping || ended) return;
    const bool only_answers = std::exchange(answered, false) && !agents_changed && !asked;
    const bool more = std::exchange(agents_changed, false) || asked;
    asked = false;
    if (only_answers || !more) continue;
    // Of many agents not more in a second than the hub bears.
    const auto gather = std::max<std::chrono::milliseconds>(kGatherChanges, changes.last() * 1ms);
    changed.wait_for(lock, gather, [this] { return stopping || ended; });
  }
}

Status Relay::Impl::work(HubSession& session) {
  const auto welcome_until = std::chrono::steady_clock::now() + kWelcomePatience;
  bool welcomed = false;
  for (;;) {
    std::optional<Part> part;
    {
      std::unique_lock lock(mutex);
      changed.wait_for(lock, kTick, [this] { return stopping || ended || !parts.empty() || !groups_came.empty(); });
      if (stopping) return Error{ErrorCode::kCancelled, "stopped"};
      if (ended) return *ended;
      if (!parts.empty()) {
        part = std::move(parts.front());
        parts.pop_front();
        changed.notify_all();
      }
    }
    if (!welcomed && std::chrono::steady_clock::now() > welcome_until) {
      return Error{ErrorCode::kDeadlineExceeded, "the hub says no welcome"};
    }
    if (welcomed) take_groups(&session);
    if (!part) {
      for (const auto& [name, group] : groups) group->keep();
      continue;
    }
    auto* const program = std::get_if<v1::ProgramsDown>(&*part);
    Status status = program != nullptr ? hear(session, *program, welcomed) : hear(std::get<v1::ValuesDown>(*part));
    if (!status) return status;
  }
}

Status Relay::Impl::session() {
  // Of now: it is renewed meanwhile.
  const auto identity = identity_in(options.data_dir + "/hub.pem");
  if (!identity) return identity.error();
  take_groups(nullptr);
  for (const auto& [name, group] : groups) group->begin_session();
  {
    const std::lock_guard lock(mutex);
    parts.clear();
    ended.reset();
  }
  answers = std::make_shared<AnswerQueue>([this] {
    const std::lock_guard lock(mutex);
    answered = true;
    changed.notify_all();
  });
  auto opened =
      HubSession::open(*identity, {.programs = [this](v1::ProgramsDown& down) { return put(std::move(down)); },
                                   .values = [this](v1::ValuesDown& down) { return put(std::move(down)); },
                                   .agents =
                                       [this](const v1::AgentsDown& down) {
                                         answers->ask(*distributor, down);
                                         return true;
                                       },
                                   .ended = [this](const Error& why) { end(why); }});
  if (!opened) return opened.error();
  HubSession& session = **opened;
  v1::ProgramsUp hello;
  hello.mutable_hello()->set_protocol(1);
  hello.mutable_hello()->set_oldest_protocol(1);
  hello.mutable_hello()->set_version(EDGE_VERSION);
  session.say(hello);
  Status status = work(session);
  end(status ? Error{ErrorCode::kUnavailable, "the session ends"} : status.error());
  session.cancel();
  if (telling.joinable()) telling.join();
  opened->reset();
  answers->stop();
  const std::lock_guard lock(mutex);
  in_session = false;
  return status;
}

void Relay::Impl::run() {
  kube::Backoff backoff(kFirstPause, kLongestPause, {});
  for (;;) {
    net::Duration pause = kFirstPause;
    const remote::Phase phase = spoke->view().phase.phase;
    if (phase == remote::Phase::kConnected || phase == remote::Phase::kDegraded) {
      const auto began = std::chrono::steady_clock::now();
      const Status status = session();
      if (std::chrono::steady_clock::now() - began > kLongestPause) {
        backoff.reset();
        logged.clear();
      }
      if (!status && status.error().code != ErrorCode::kCancelled &&
          std::exchange(logged, status.error().text) != status.error().text) {
        options.log.warn("no programs from the hub; agents are given what came last",
                         {{"reason", status.error().text}});
      }
      pause = backoff.next();
    } else {
      take_groups(nullptr);
    }
    std::unique_lock lock(mutex);
    changed.wait_for(lock, pause, [this] { return stopping; });
    if (stopping) return;
  }
}

Relay::Relay(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Relay>> Relay::start(RelayOptions options) {
  std::unique_ptr<Relay> relay(new Relay(std::make_unique<Impl>(std::move(options))));
  if (Status status = relay->impl_->open(); !status) return status.error();
  return relay;
}

Relay::~Relay() {
  if (impl_->distributor) impl_->distributor->on_change({});
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->changed.notify_all();
  if (impl_->thread.joinable()) impl_->thread.join();
  for (const auto& [name, group] : impl_->groups) group->keep();
  impl_->spoke.reset();
  if (impl_->distributor) impl_->distributor->stop();
  impl_->distributor.reset();
}

const Distributor& Relay::agents() const { return *impl_->distributor; }

RelayFigures Relay::figures() const {
  RelayFigures figures;
  figures.store = impl_->sections->figures();
  figures.spoke = impl_->spoke->view();
  const std::lock_guard lock(impl_->mutex);
  figures.groups = impl_->groups.size();
  for (const auto& [name, group] : impl_->groups) {
    figures.programs += group->has_program() ? 1 : 0;
    figures.incomplete += group->lacks_secrets() ? 1 : 0;
    figures.received_bytes += group->section_bytes();
  }
  figures.programs_taken = impl_->programs_taken;
  figures.sessions = impl_->sessions;
  figures.in_session = impl_->in_session;
  return figures;
}

bool Relay::ready() const {
  const RelayFigures now = figures();
  return now.programs > 0 && now.programs == now.groups;
}

}  // namespace edge::controller::relay
