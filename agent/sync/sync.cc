#include "agent/sync/sync.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <thread>
#include <utility>

#include <unistd.h>

#include "agent/sync/agent_store.h"
#include "agent/sync/inbox.h"
#include "agent/sync/membership.h"
#include "agent/sync/received_addresses.h"
#include "agent/sync/session.h"
#include "agent/sync/synced_site.h"
#include "agent/vip/holder.h"
#include "program/cpu.h"
#include "program/region_label.h"
#include "program/values/endpoints.h"
#include "program/values/value_set.h"

namespace edge::agent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Steady = std::chrono::steady_clock;

constexpr auto kFirstPause = milliseconds(100);
constexpr auto kLongestPause = milliseconds(10'000);
/// A session that lasted so long was none of a row of failures.
constexpr auto kStable = seconds(10);
/// How often what depends on the clock is looked at.
constexpr auto kTick = milliseconds(250);
/// Values that belong to a program which does not come are put to work beside the one that runs.
constexpr auto kProgramPatience = seconds(1);
/// Values change with every pod, and programs with every change; while they come the disk need not have each. After a
/// crash the controller sends what is newer.
constexpr auto kKeepEvery = seconds(1);
std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : std::string();
}

std::string random_word() {
  std::random_device random;
  std::string word;
  for (int i = 0; i < 4; ++i) word += std::to_string(random()) + (i < 3 ? "-" : "");
  return word;
}

program::Hash hash_of(const ProgramBytes& bytes) {
  auto view = program::read(bytes, nullptr, program::Databases::kHashWhenSearched);
  return view ? view->hash() : program::Hash{};
}

}  // namespace

struct Sync::Impl {
  Impl(SyncOptions given, AgentStore kept_in, Service& to)
      : options(std::move(given)), store(std::move(kept_in)), service(to) {}

  SyncOptions options;
  AgentStore store;
  Service& service;
  std::shared_ptr<vip::Holder> holder;  ///< null: this agent holds no addresses
  SyncedSite site{service, {.lock_file = options.data_dir + "/links.lock", .holds = [this](const std::string& name) {
                              return !holder || holder->holds_site(name);
                            }}};
  Membership membership{options, store, service, [this](const std::string& text) { tell(text); }};
  SyncInbox inbox;
  ConnectLocally local;  ///< null: the controller is reached by gRPC
  std::thread thread;

  // Of the thread.
  const std::string instance = random_word();
  ProgramBytes running;
  program::Hash program{};
  program::EndpointSet endpoints;  ///< at work
  program::SecretSet secrets;      ///< at work
  bool values_dirty = false;       ///< not on disk yet
  bool program_dirty = false;      ///< not on disk yet
  Steady::time_point kept_at{};
  bool unkept = false;  ///< the last try to write failed
  milliseconds pause = kFirstPause;
  bool draining = false;  ///< the service takes nothing any more
  std::string reported;   ///< the last message, so that it is told once
  std::mt19937 random{std::random_device()()};

  // Of one session.
  std::optional<ReceivedProgram> next;
  std::optional<ReceivedValues> values;
  Steady::time_point values_came{};
  std::uint64_t values_applied = 0;
  std::optional<program::Hash> refused;

  void run();
  void restore();
  Status session();
  Result<std::unique_ptr<SyncSession>> open_session();
  Status work(SyncSession& session);
  Status put_to_work(SyncSession& session);
  Status put_program(SyncSession& session);
  Status put_values(SyncSession& session);
  void keep();
  Status start_holder();
  void take_zone(const Labels& of_node);
  bool take_addresses(const std::string& message, bool keeps);
  bool take_links(const std::string& message, bool keeps);
  std::string peer_address() const;
  void tell(const std::string& text, LogLevel level = LogLevel::kWarn);
};

void Sync::Impl::tell(const std::string& text, LogLevel level) {
  if (text == reported) return;
  reported = text;
  service.log().write(level, text);
}

/// What served last serves again, whether a controller is there or not.
void Sync::Impl::restore() {
  std::string fault;
  auto kept = store.last(fault);
  if (!kept) {
    if (kept.error().code != ErrorCode::kNotFound) tell("the stored program cannot be used: " + kept.error().text);
    return;
  }
  if (!fault.empty()) tell("the stored program has " + fault);
  // Programs are native code: without a key the service would take any.
  if (!membership.verifies()) return tell("the stored program cannot be used: there is no key to verify it");
  if (Status status = service.restore(kept->program, kept->endpoints, kept->secrets); !status) return;
  running = std::move(kept->program);
  program = hash_of(running);
  endpoints = std::move(kept->endpoints);
  secrets = std::move(kept->secrets);
}

Status Sync::Impl::session() {
  if (!local) {
    if (Status status = membership.have_identity(); !status) return status;
  }
  inbox.clear();
  next.reset();
  values.reset();
  values_applied = 0;
  refused.reset();
  auto opened = open_session();
  if (!opened) return opened.error();
  Status status = work(**opened);
  opened->reset();
  keep();
  return status;
}

Result<std::unique_ptr<SyncSession>> Sync::Impl::open_session() {
  AgentWords words{.node = options.node.empty() ? host_name() : options.node,
                   .labels = options.labels,
                   .instance = instance,
                   .peer_address = peer_address(),
                   .program = program,
                   .running = running};
  ReportSource reports{.backends = [this] { return service.backends(); },
                       .stats = [this] { return service.stats(); },
                       .unbound = [this] { return service.unbound(); },
                       .answer = [this](const daemon::AdminRequest& request) { return service.answer(request); },
                       .vips = [this] { return holder ? holder->states() : std::vector<vip::AddressState>(); },
                       .wanted = [this](std::size_t most) { return service.server().take_wanted_names(most); },
                       .addresses = [this](const std::string& message) { return take_addresses(message, true); },
                       .links = [this](const std::string& message) { return take_links(message, true); },
                       .links_report = [this] { return site.report(); },
                       .limits = &service.server()};
  if (local) return open_local_session(local, std::move(words), std::move(reports), inbox);
  return open_remote_session(options.controller, *membership.identity(), std::move(words), std::move(reports), inbox,
                             [this](std::string authorities, std::string key) {
                               membership.hear_trust(std::move(authorities), std::move(key));
                             });
}

Status Sync::Impl::work(SyncSession& session) {
  for (;;) {
    SyncInbox::Content content = inbox.take(kTick);
    if (content.stopping) return Error{ErrorCode::kCancelled, "stopped"};
    membership.take_trust();
    const bool quiet = !content.program && !content.values;
    if (content.addresses) take_addresses(*content.addresses, true);
    if (content.links) take_links(*content.links, true);
    if (content.program) next = std::move(content.program);
    if (content.values) {
      if (values && values->version != values_applied) content.values->replace(*values);
      values = std::move(content.values);
      values_came = Steady::now();
      tell(local ? "connected to the controller of this process" : "connected to controller " + options.controller,
           LogLevel::kInfo);
    }
    if (Status status = put_to_work(session); !status) return status;
    session.tick();
    if (content.ended) return *content.ended;
    if ((quiet && !unkept) || Steady::now() - kept_at >= kKeepEvery) keep();
    if (local || !membership.is_renewal_due()) continue;
    if (membership.renew(session)) return {};
  }
}

Status Sync::Impl::put_to_work(SyncSession& session) {
  if (next && values && values->version >= next->values) return put_program(session);
  if (values && values->version != values_applied && running) return put_values(session);
  return {};
}

Status Sync::Impl::put_program(SyncSession& session) {
  const ReceivedProgram received = std::move(*next);
  next.reset();
  program::FileHeader header{};
  std::memcpy(&header, received.bytes->data(), sizeof header);
  // Values of a later program may be here already, and lack a backend that this one still asks for.
  const bool own = values->program == received.hash || values->version == received.values;
  program::EndpointSet next_endpoints =
      own ? values->endpoints : united(values->endpoints, united(values->skipped_endpoints, endpoints));
  program::SecretSet next_secrets =
      own ? values->secrets : united(values->secrets, united(values->skipped_secrets, secrets));
  Status status;
  if (!membership.verifies()) {
    status = Error{ErrorCode::kFailedPrecondition, "there is no key to verify the program by"};
  } else if (!program::runs_on(header.target, program::this_cpu())) {
    status = Error{ErrorCode::kFailedPrecondition,
                   "the program is made for " + std::string(program::to_string(header.target))};
  } else {
    status = service.apply(received.bytes, next_endpoints, next_secrets);
  }
  if (!status) {
    draining = status.error().code == ErrorCode::kCancelled;
    if (draining) return status;
    refused = received.hash;
    session.refused(received.hash, status.error().text);
    return {};
  }
  running = received.bytes;
  program = received.hash;
  refused.reset();
  endpoints = std::move(next_endpoints);
  secrets = std::move(next_secrets);
  session.applied(program, running);
  values->skipped_endpoints = {};
  values->skipped_secrets = {};
  values_applied = values->version;
  session.values_applied(values_applied);
  values_dirty = program_dirty = true;
  return {};
}

/// Values that belong to another program than the one that runs: what is in them counts, and what that one needs
/// besides stays. For a moment the program is waited for, which then takes them as they are.
Status Sync::Impl::put_values(SyncSession& session) {
  const bool own = values->program == program;
  if (!own && values->program != refused && Steady::now() - values_came < kProgramPatience) return {};
  program::EndpointSet next_endpoints = own ? values->endpoints : united(values->endpoints, endpoints);
  program::SecretSet next_secrets = own ? values->secrets : united(values->secrets, secrets);
  if (Status status = service.apply(running, next_endpoints, next_secrets); !status) {
    draining = status.error().code == ErrorCode::kCancelled;
    return draining ? status : Status();
  }
  values_dirty = values_dirty || next_endpoints != endpoints || next_secrets != secrets;
  endpoints = std::move(next_endpoints);
  secrets = std::move(next_secrets);
  values_applied = values->version;
  session.values_applied(values_applied);
  return {};
}

/// Values first: a program never stands on disk beside older ones than it was sent with. What could not be written is
/// tried again: the disk may have room by then, and no other program may come for long.
void Sync::Impl::keep() {
  if (!values_dirty && !program_dirty) return;
  kept_at = Steady::now();
  unkept = true;
  if (values_dirty) {
    if (Status kept = store.keep_values(endpoints, secrets); !kept) {
      return tell("endpoints and secrets could not be stored: " + kept.error().text);
    }
    values_dirty = false;
  }
  if (program_dirty) {
    if (Status kept = store.keep_program(*running); !kept) {
      return tell("the program could not be stored: " + kept.error().text);
    }
    program_dirty = false;
  }
  unkept = false;
}

/// As other agents are told it: one that hears at every address is reached at the one that the controller sees.
std::string Sync::Impl::peer_address() const {
  if (!holder || options.peer_listen->port == 0) return {};
  const std::string port = ":" + std::to_string(options.peer_listen->port);
  const IpAddress& address = options.peer_listen->address;
  if (address == IpAddress() || to_string(address) == "0.0.0.0") return port;
  return (address.is_v4() ? to_string(address) : "[" + to_string(address) + "]") + port;
}

Status Sync::Impl::start_holder() {
  if (!options.peer_listen) return {};
  auto started = vip::Holder::start({.name = options.name,
                                     .labels = options.labels,
                                     .listen = *options.peer_listen,
                                     .state_file = options.data_dir + "/vips",
                                     .bird_directory = options.data_dir + "/bird",
                                     .log = service.log(),
                                     .drain_timeout = service.drain_timeout(),
                                     .served = [this] { return service.served(); },
                                     .moved = [this] { service.addresses_moved(); }});
  if (!started) return started.error();
  holder = std::move(*started);
  service.set_holder(holder);
  return {};
}

/// As the labels of the agent say it, else those of its Node; the region likewise.
void Sync::Impl::take_zone(const Labels& of_node) {
  const auto said = [&](std::string_view label) {
    for (const Labels* labels : {&std::as_const(options.labels), &of_node}) {
      const auto found = labels->find(label);
      if (found != labels->end() && !found->second.empty()) return found->second;
    }
    return std::string();
  };
  service.set_zone(said(program::kZoneLabel));
  service.set_region(said(program::kRegionLabel));
}

/// From the session's thread. False: they are none.
bool Sync::Impl::take_addresses(const std::string& message, bool keeps) {
  auto addresses = read_addresses(message);
  if (!addresses) {
    service.log().error("virtual addresses: " + addresses.error().text);
    return false;
  }
  take_zone(addresses->node_labels);
  if (holder) holder->set_addresses(std::move(*addresses));
  if (!keeps) return true;
  if (Status kept = store.keep_addresses(message); !kept) {
    service.log().warn("virtual addresses could not be stored: " + kept.error().text);
  }
  return true;
}

/// From the session's thread. False: they are none.
bool Sync::Impl::take_links(const std::string& message, bool keeps) {
  if (Status status = site.take(message); !status) {
    service.log().error("links of the SD-WAN: " + status.error().text);
    return false;
  }
  if (!keeps) return true;
  if (Status kept = store.keep_links(message); !kept) {
    service.log().warn("links of the SD-WAN could not be stored: " + kept.error().text);
  }
  return true;
}

void Sync::Impl::run() {
  for (;;) {
    const auto began = Steady::now();
    const Status status = session();
    if (inbox.stopped_within(milliseconds(0))) return;
    if (status) continue;  // renewed: at once, with the new certificate
    if (draining) return;
    std::string fault = "controller " + options.controller + ": " + status.error().text;
    const Status again = membership.join_again();
    if (again) continue;
    if (again.error().code != ErrorCode::kNotFound) {
      fault += "; " + options.token_file + " is to replace the certificate in " + options.data_dir + ": " +
               again.error().text;
    }
    tell(fault + (running ? "; keeps serving the last program" : ""));
    if (Steady::now() - began >= kStable) pause = kFirstPause;
    // Another process has our name: it is not to be driven out at once.
    if (status.error().code == ErrorCode::kAborted) pause = kLongestPause;
    const auto count = pause.count();
    const auto jittered = milliseconds(count / 2 + std::uniform_int_distribution<std::int64_t>(0, count / 2)(random));
    pause = std::min(pause * 2, kLongestPause);
    if (inbox.stopped_within(jittered)) return;
  }
}

Sync::Sync(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Sync::~Sync() {
  impl_->inbox.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
  impl_->service.set_holder(nullptr);
  impl_->site.end();
}

Result<std::unique_ptr<Sync>> Sync::start(SyncOptions options, Service& service) {
  std::string controller = options.controller;
  std::string token_file = options.token_file;
  auto sync = open(std::move(options), service);
  if (!sync) return sync.error();
  if (Status status = (*sync)->connect(std::move(controller), std::move(token_file)); !status) return status.error();
  return sync;
}

Result<std::unique_ptr<Sync>> Sync::open(SyncOptions options, Service& service) {
  auto store = AgentStore::open(options.data_dir, options.name, options.seal_key_file, service.log());
  if (!store) return store.error();
  const Error none{ErrorCode::kNotFound, "no certificate is used"};
  auto identity = options.without_certificate ? Result<Identity>(none) : store->identity();
  if (!identity && identity.error().code != ErrorCode::kNotFound) return identity.error();
  auto impl = std::make_unique<Impl>(std::move(options), std::move(*store), service);
  if (identity) impl->membership.restore(std::move(*identity));
  impl->membership.begin();
  impl->restore();
  // The rest is served without.
  if (Status status = impl->start_holder(); !status)
    impl->service.log().error("takes no virtual address: " + status.error().text);
  impl->take_zone({});
  if (const auto kept = impl->store.addresses()) impl->take_addresses(*kept, false);
  if (const auto kept = impl->store.links()) impl->take_links(*kept, false);
  return std::unique_ptr<Sync>(new Sync(std::move(impl)));
}

void Sync::leave_site() { impl_->site.end(); }

Status Sync::connect(std::string controller, std::string token_file) {
  if (!impl_->membership.identity() && token_file.empty()) {
    return Error{ErrorCode::kInvalidArgument,
                 "no certificate is in " + impl_->options.data_dir + ": give --token-file to join"};
  }
  impl_->options.controller = std::move(controller);
  impl_->options.token_file = std::move(token_file);
  impl_->thread = std::thread([own = impl_.get()] { own->run(); });
  return {};
}

void Sync::connect(ConnectLocally controller, program::VerifyKey key) {
  impl_->options.controller = "of this process";
  impl_->options.key = key;
  impl_->membership.trust(std::move(key));
  impl_->local = std::move(controller);
  impl_->thread = std::thread([own = impl_.get()] { own->run(); });
}

}  // namespace edge::agent
