#include "controller/remote/spoke.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/os/file.h"
#include "controller/authority/remote_identity.h"
#include "controller/kube/backoff.h"
#include "controller/remote/hub_stream.h"
#include "net/tls/identity.h"

namespace edge::controller::remote {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMaxFileBytes = 64 << 10;
/// How often what depends on the clock is looked at: a quarter of the interval, within these.
constexpr net::Duration kShortestStep = 25ms;
constexpr net::Duration kLongestStep = 1s;
constexpr net::Duration kFirstPause = 250ms;
constexpr net::Duration kLongestPause = 2s;
/// A hub that refuses is asked seldom: somebody has to act there.
constexpr net::Duration kRefusedPause = 15s;
constexpr auto kLookForLead = 500ms;
/// After a certificate for traffic could not be had.
constexpr net::Duration kIdentityAgain = 10s;
constexpr std::size_t kMostNews = 4096;
/// After a renewal, then twice as long each time while it fails or is of no use, up to the second.
constexpr net::Duration kRenewSoon = 1s;
constexpr net::Duration kRenewAgain = 60s;
/// While it is heard, a status says so once in this time.
constexpr auto kTellHeard = 60s;
/// For the hub's first word.
constexpr auto kWelcomePatience = 10s;
/// A tunnel that has ended, or that the hub does not want, is tried again after so long.
constexpr auto kTunnelAgain = 2s;

}  // namespace

struct Spoke::Impl {
  explicit Impl(SpokeOptions given) : options(std::move(given)) {}

  const SpokeOptions options;
  std::thread thread;

  // Of the thread.
  RemoteIdentity identity;
  bool is_first = false;     ///< the certificate is that of the join file
  net::Time next_renewal{};  ///< not before
  net::Duration renewal_pause = kRenewSoon;
  net::Time next_identity{};
  std::optional<Exports> told_exports;  ///< to this hub, by this connection

  mutable std::mutex mutex;  ///< guards what follows
  std::condition_variable changed;
  bool stopping = false;
  bool poked = false;  ///< there may be something to be said
  std::string logged;  ///< the last error, so that it is told once
  std::optional<Link> link;
  bool welcomed = false;
  std::vector<Word> news;  ///< of other clusters, not taken yet
  std::optional<Error> ended;
  std::optional<std::string> trusted;  ///< authorities from now on, not kept yet
  SpokeView shown;
  ClusterFacts facts{.dials = true};
  WallTime heard{};

  WallTime wall() const { return options.clock ? options.clock() : std::chrono::system_clock::now(); }
  static net::Time now() { return net::Clock().now(); }
  bool stopped() const {
    const std::lock_guard lock(mutex);
    return stopping;
  }
  /// Empty: it has not welcomed us.
  std::string hub_uid() const {
    const std::lock_guard lock(mutex);
    return welcomed ? shown.cluster_uid : std::string();
  }
  std::string path() const { return options.data_dir + "/" + options.file; }

  Status load();
  void load_again();
  Result<bool> take_join_file();
  Status keep() const;
  bool is_due();
  void put_off_renewal();
  Status renew(HubChannel& channel);
  Status session();
  Status connect();
  Error certificate_fault(std::string_view what) const;
  Status work(HubChannel& channel);
  void hear(const Word& word);
  void take_trust();
  void exchange(HubChannel& channel);
  Status ask_identity(HubChannel& channel);
  void note(const Error& why);
  void show();
  void run();
};

/// \returns whether it is another than that which the identity began with.
Result<bool> Spoke::Impl::take_join_file() {
  if (options.join_file.empty() && options.join_text.empty()) return false;
  const auto text =
      options.join_file.empty() ? Result<std::string>(options.join_text) : read_file(options.join_file, kMaxFileBytes);
  if (!text) return Error{text.error().code, "--hub-join " + text.error().text};
  const std::string fingerprint = fingerprint_of(*text);
  if (fingerprint == identity.joined_with) return false;
  auto read = read_remote_identity(*text);
  if (!read) return Error{read.error().code, "--hub-join " + options.join_file + ": " + read.error().text};
  if (const auto times = net::tls::certificate_times(read->certificate, read->key); !times) {
    return Error{times.error().code, "--hub-join " + options.join_file + ": " + times.error().text};
  }
  const bool told = !options.hub.empty() || !read->hub.empty();
  if (!told) {
    return Error{ErrorCode::kInvalidArgument,
                 "--hub-join " + options.join_file + " names no hub, and there is no --hub"};
  }
  identity = std::move(*read);
  identity.joined_with = fingerprint;
  is_first = true;
  if (!options.hub.empty()) identity.hub = options.hub;
  return true;
}

Status Spoke::Impl::load() {
  const auto kept = read_file(path(), kMaxFileBytes);
  if (kept) {
    auto read = read_remote_identity(*kept);
    if (!read) return Error{read.error().code, path() + ": " + read.error().text};
    identity = std::move(*read);
    is_first = false;
    if (!options.hub.empty()) identity.hub = options.hub;
    facts.was_connected = true;
  } else if (kept.error().code != ErrorCode::kNotFound) {
    return kept.error();
  }
  const auto taken = take_join_file();
  if (!taken && identity.certificate.empty()) return taken.error();
  if (!taken) options.log.warn(taken.error().text);
  if (taken && *taken) facts.was_connected = false;
  if (identity.certificate.empty()) {
    return Error{ErrorCode::kFailedPrecondition, "--hub needs --hub-join FILE, as edgectl cluster add writes it"};
  }
  return {};
}

/// Another controller that led until now may have renewed the certificate in the same directory. The one before is
/// refused as soon as the hub has seen the renewed one.
void Spoke::Impl::load_again() {
  const std::lock_guard lock(mutex);
  RemoteIdentity before = identity;
  const bool was_first = is_first;
  if (Status status = load(); !status) {
    options.log.warn(status.error().text);
    identity = std::move(before);
    is_first = was_first;
  }
}

Status Spoke::Impl::keep() const {
  return write_file(path(), std::string_view(text_of(identity)), FileAccess::kOwnerOnly);
}

/// The first certificate is replaced at once: the file that it came in may be in other hands.
bool Spoke::Impl::is_due() {
  if (is_first) return true;
  const Validity& validity = identity.validity;
  const bool old = wall() < validity.from || wall() >= validity.from + (validity.until - validity.from) / 3 * 2;
  if (!old) renewal_pause = kRenewSoon;
  return old && now() >= next_renewal;
}

/// By a clock that is weeks off every certificate is due at once.
void Spoke::Impl::put_off_renewal() {
  next_renewal = now() + renewal_pause;
  renewal_pause = std::min(2 * renewal_pause, kRenewAgain);
}

Status Spoke::Impl::renew(HubChannel& channel) {
  auto key = net::tls::make_private_key();
  if (!key) return key.error();
  const auto request = net::tls::certificate_request(*key);
  if (!request) return request.error();
  auto renewed = channel.renew(*request);
  if (!renewed) return renewed.error();
  const auto times = net::tls::certificate_times(renewed->certificate, *key);
  const auto facts_of_it = read_certificate(renewed->certificate);
  if (!times || !facts_of_it || !net::tls::are_certificates(renewed->authorities)) {
    return Error{ErrorCode::kDataLoss, "the hub's answer to a renewal is no certificate for the key"};
  }
  identity.certificate = std::move(renewed->certificate);
  identity.key = std::move(*key);
  identity.authorities = std::move(renewed->authorities);
  identity.validity = facts_of_it->validity;
  is_first = false;
  put_off_renewal();
  Status kept = keep();
  if (kept)
    options.log.info("has a new certificate for its hub", {{"hub", identity.hub}, {"cluster", identity.cluster}});
  return kept;
}

void Spoke::Impl::hear(const Word& word) {
  const std::lock_guard lock(mutex);
  if (!link) return;
  if (const auto* const hello = std::get_if<Hello>(&word)) {
    welcomed = true;
    link->set_heartbeat(hello->heartbeat, now());
    shown.version = hello->version;
    shown.cluster_uid = hello->cluster_uid;
  }
  if (std::holds_alternative<ClusterNews>(word) || std::holds_alternative<NewsEnd>(word)) {
    if (news.size() >= kMostNews) {
      if (!ended) ended = Error{ErrorCode::kResourceExhausted, "the hub tells more of clusters than there can be"};
    } else {
      news.push_back(word);
    }
  }
  if (const auto* const trust = std::get_if<Trust>(&word)) trusted = trust->authorities;
  if (Status status = link->hear(word, now()); !status && !ended) ended = status.error();
  heard = wall();
  poked = true;
  changed.notify_all();
}

/// Whom to believe may change while a session lasts; the next one begins with it.
void Spoke::Impl::take_trust() {
  std::optional<std::string> taken;
  {
    const std::lock_guard lock(mutex);
    taken.swap(trusted);
  }
  if (!taken || *taken == identity.authorities || !net::tls::are_certificates(*taken)) return;
  identity.authorities = std::move(*taken);
  if (Status status = keep(); !status) options.log.warn(status.error().text);
}

Status Spoke::Impl::ask_identity(HubChannel& channel) {
  auto key = net::tls::make_private_key();
  if (!key) return key.error();
  const auto request = net::tls::certificate_request(*key);
  if (!request) return request.error();
  auto renewed = channel.renew_traffic(*request);
  if (!renewed) return renewed.error();
  return options.traffic->take_identity({.cluster = identity.cluster,
                                         .certificate = std::move(renewed->certificate),
                                         .key = std::move(*key),
                                         .authorities = std::move(renewed->authorities),
                                         .hub = identity.hub,
                                         .joined_with = identity.joined_with});
}

/// Of services between clusters: what is heard, what is told, and the certificate for it.
void Spoke::Impl::exchange(HubChannel& channel) {
  if (options.traffic == nullptr || hub_uid().empty()) return;
  if (now() >= next_identity && options.traffic->needs_identity(identity.hub, identity.joined_with)) {
    next_identity = now() + kIdentityAgain;
    if (Status status = ask_identity(channel); !status) {
      options.log.warn("no certificate for traffic between clusters: " + status.error().text);
    }
  }
  if (!options.traffic->takes_from(identity.hub)) return;
  options.traffic->trust(identity.hub, identity.authorities);
  std::vector<Word> heard_news;
  {
    const std::lock_guard lock(mutex);
    heard_news.swap(news);
  }
  for (const Word& word : heard_news) {
    if (const auto* const one = std::get_if<ClusterNews>(&word)) options.traffic->take_news(identity.hub, *one);
    if (std::holds_alternative<NewsEnd>(word)) options.traffic->end_news(identity.hub);
  }
  Exports own = options.traffic->own();
  if (told_exports != own) {
    channel.say({own});
    told_exports = std::move(own);
  }
}

Status Spoke::Impl::work(HubChannel& channel) {
  const net::Time hello_until = now() + kWelcomePatience;
  net::Time tunnel_at{};
  net::Time questions_at{};
  for (;;) {
    std::vector<Word> words;
    {
      std::unique_lock lock(mutex);
      const net::Duration step = std::clamp<net::Duration>(link->heartbeat().interval / 4, kShortestStep, kLongestStep);
      changed.wait_for(lock, step, [this] { return stopping || poked; });
      poked = false;
      if (stopping) {
        lock.unlock();
        channel.say({Leaving{}});
        return Error{ErrorCode::kCancelled, "stopped"};
      }
      if (ended) return *ended;
      if (link->is_lost(now())) {
        return Error{ErrorCode::kDeadlineExceeded, "the hub has been silent for longer than heartbeat.timeout"};
      }
      if (!welcomed && now() > hello_until) return Error{ErrorCode::kDeadlineExceeded, "the hub says no hello"};
    }
    const Report own = options.own ? options.own() : Report{};
    if (options.leads && !options.leads()) {
      channel.say({Leaving{}});
      return Error{ErrorCode::kAborted, "another controller leads now"};
    }
    {
      const std::lock_guard lock(mutex);
      // Before it is welcomed it says nothing but its hello.
      if (welcomed) words = link->due(own, now());
    }
    if (!words.empty()) channel.say(words);
    if (options.tunnels != nullptr && now() >= tunnel_at && options.tunnels->is_wanted()) {
      const std::string uid = hub_uid();
      if (!uid.empty()) {
        tunnel_at = now() + kTunnelAgain;
        channel.keep_tunnel(*options.tunnels, {identity.hub, uid, /*is_hub=*/true});
      }
    }
    if (options.answer && now() >= questions_at && !hub_uid().empty()) {
      questions_at = now() + kTunnelAgain;
      channel.keep_questions(options.answer);
    }
    take_trust();
    exchange(channel);
    show();
    if (is_due()) {
      channel.say({Leaving{}});
      return Error{ErrorCode::kAborted, "the certificate is to be renewed"};
    }
  }
}

/// That nobody lets us in by it, and what is to be done.
Error Spoke::Impl::certificate_fault(std::string_view what) const {
  return {ErrorCode::kUnauthenticated,
          "the certificate of this cluster " + std::string(what) +
              " by this machine's clock; if that is right, edgectl cluster token, at the hub, makes a join file"};
}

Status Spoke::Impl::session() {
  if (wall() >= identity.validity.until) return certificate_fault("is over");
  Status status = connect();
  const bool failed =
      !status && status.error().code != ErrorCode::kCancelled && status.error().code != ErrorCode::kAborted;
  if (!failed || wall() >= identity.validity.from) return status;
  // A hub whose clock was ahead when it issued the certificate may refuse it in TLS, where nobody is told why.
  Error fault = certificate_fault("is not valid yet");
  fault.text += ": " + status.error().text;
  return fault;
}

Status Spoke::Impl::connect() {
  const auto stops = [this] { return stopped(); };
  if (is_due()) {
    HubChannel channel(identity);
    if (Status status = channel.await(stops); !status) return status;
    if (Status status = renew(channel); !status) {
      if (is_first) return status;
      put_off_renewal();
      options.log.warn("the certificate for the hub is not renewed: " + status.error().text);
    }
  }
  HubChannel channel(identity);
  if (Status status = channel.await(stops); !status) return status;
  {
    const std::lock_guard lock(mutex);
    link.emplace(Heartbeat(), now());
    welcomed = false;
    news.clear();
    ended.reset();
  }
  told_exports.reset();
  if (options.traffic != nullptr) options.traffic->begin_news(identity.hub);
  channel.open({.heard = [this](const Word& word) { hear(word); },
                .ended =
                    [this](const Error& why) {
                      const std::lock_guard lock(mutex);
                      if (!ended) ended = why;
                      poked = true;
                      changed.notify_all();
                    }});
  channel.say({Hello{.cluster_uid = options.cluster_uid, .version = options.version, .heartbeat = {}}});
  Status status = work(channel);
  channel.close();
  const std::lock_guard lock(mutex);
  link.reset();
  return status;
}

void Spoke::Impl::show() {
  const std::lock_guard lock(mutex);
  facts.link = link && welcomed ? std::optional(link->facts()) : std::nullopt;
  facts.report = facts.link ? link->report() : std::nullopt;
  const Validity& validity = identity.validity;
  facts.certificate_ends = validity.until - wall() < (validity.until - validity.from) / 6;
  const PhaseView before = std::exchange(shown.phase, phase_of(facts, link ? link->heartbeat() : Heartbeat(), now()));
  if (shown.phase.phase == Phase::kConnected) {
    facts.was_connected = true;
    facts.refusal.clear();
    facts.last_error.clear();
  }
  shown.hub = identity.hub;
  shown.cluster = identity.cluster;
  shown.certificate_until = identity.validity.until;
  shown.round_trip = link ? link->facts().round_trip : net::Duration();
  if (facts.report) shown.report = facts.report;
  const bool same = before.phase == shown.phase.phase && before.reason == shown.phase.reason;
  if (!same || heard - shown.heard >= kTellHeard) {
    shown.heard = heard;
    if (options.changed) options.changed();
  }
  if (same) return;
  if (shown.phase.phase == Phase::kConnected) {
    if (before.phase != Phase::kDegraded) ++shown.connections;
    logged.clear();
    options.log.info("connected to hub " + identity.hub + " as " + identity.cluster, {{"version", shown.version}});
  } else if (shown.phase.phase == Phase::kDegraded) {
    options.log.warn("the connection to hub " + identity.hub + " is degraded", {{"reason", shown.phase.message}});
  }
}

void Spoke::Impl::note(const Error& why) {
  {
    const std::lock_guard lock(mutex);
    facts.refusal = refusal_of(why.code);
    facts.refusal_message = why.text;
    facts.last_error = why.text;
    if (std::exchange(logged, why.text) != why.text) {
      options.log.warn("no connection to hub " + identity.hub, {{"cluster", identity.cluster}, {"reason", why.text}});
    }
  }
  show();
}

void Spoke::Impl::run() {
  kube::Backoff backoff(kFirstPause, kLongestPause, {});
  bool led = true;  // as `start` has just read what there is
  for (;;) {
    if (stopped()) return;
    net::Duration pause = kLookForLead;
    const bool leads = !options.leads || options.leads();
    if (leads && !led) load_again();
    if (!leads && options.traffic != nullptr) options.traffic->follow();
    led = leads;
    if (leads) {
      show();
      const net::Time began = now();
      const Status status = session();
      if (status || status.error().code == ErrorCode::kCancelled) return;
      const bool renews = status.error().code == ErrorCode::kAborted;
      if (!renews) note(status.error());
      // A session that lasted was none of a row of failures.
      if (now() - began > kLongestPause) backoff.reset();
      pause = renews ? kFirstPause : backoff.next();
      if (!refusal_of(status.error().code).empty()) {
        // Another join file may have been put there.
        const auto taken = take_join_file();
        if (!taken) options.log.warn(taken.error().text);
        pause = taken && *taken ? kFirstPause : std::max(pause, kRefusedPause / 2);
      }
    }
    std::unique_lock lock(mutex);
    changed.wait_for(lock, pause, [this] { return stopping; });
  }
}

Spoke::Spoke(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Spoke>> Spoke::start(SpokeOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  if (Status status = impl->load(); !status) return status.error();
  impl->show();
  impl->thread = std::thread([impl = impl.get()] { impl->run(); });
  return std::unique_ptr<Spoke>(new Spoke(std::move(impl)));
}

Spoke::~Spoke() {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->changed.notify_all();
  impl_->thread.join();
}

SpokeView Spoke::view() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->shown;
}

}  // namespace edge::controller::remote
