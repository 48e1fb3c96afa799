#include "controller/acme/certificates.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "controller/acme/round.h"
#include "controller/acme/rounds.h"
#include "program/values/ordered_certificates.h"

namespace edge::controller::acme {

using compiler::OrderedCertificate;

namespace {

/// Orders under way at once.
constexpr std::size_t kWorkers = 8;
/// Of one CA, by the first of an issuer's list: one that stalls keeps no name of another from its order.
constexpr std::size_t kMostOfAuthority = 6;
/// What was due is computed anew: clocks are set, and machines sleep.
constexpr std::int64_t kLongestSleep = 600;
constexpr std::int64_t kAdviceLeast = 3600;
constexpr std::int64_t kAdviceUsual = 6 * 3600;
constexpr std::int64_t kAdviceMost = 24 * 3600;
/// Between two looks for what nobody wants any more.
constexpr std::int64_t kSweep = 3600;
/// Secrets that one of them deletes at most.
constexpr std::size_t kMostSwept = 1000;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

}  // namespace

Result<CertificateView> view_kept(const SecretView& secret) {
  const std::string* const chain = secret.value(program::kCertificateKey);
  const std::string* const key = secret.value(program::kPrivateKeyKey);
  if (chain == nullptr || key == nullptr) return Error{ErrorCode::kNotFound, "it has no certificate"};
  return view_certificate(*chain, *key);
}

Certificates::Certificates(kube::Client& client, CertificatesOptions options, CertificateEvents events)
    : client_(client),
      options_(std::move(options)),
      events_(std::move(events)),
      http_(client.loop(), resolver_, records_),
      names_(client, http_,
             {.identity = options_.identity,
              .controller_class = options_.controller_class,
              .log = options_.log,
              .wall = options_.wall}),
      recorder_(client) {
  for (std::size_t i = 0; i < kWorkers; ++i) workers_.push_back(std::make_unique<Worker>(client.loop()));
  for (const auto& worker : workers_) run(*worker);
  if (!options_.several) return;
  follower_ = std::make_unique<Worker>(client.loop());
  follower_pause_ = std::make_unique<net::Waiter>(client.loop());
  follow();
}

Certificates::~Certificates() = default;

std::int64_t Certificates::now() const {
  if (options_.wall) return options_.wall();
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void Certificates::set_wanted(const compiler::OrderedCertificates& ordered) {
  names_.set_listeners(ordered.bundles);
  std::map<Name, Entry> next;
  for (const OrderedCertificate& one : ordered.certificates) {
    Name name{one.name_space, one.host};
    Entry entry;
    if (const auto known = entries_.find(name); known != entries_.end()) {
      entry = std::move(known->second);
      if (entry.wanted.settings != one.settings) {
        entry.due = 0;
        entry.again = entry.busy;
      }
    }
    entry.wanted = one;
    next.insert_or_assign(std::move(name), std::move(entry));
  }
  if (entries_.empty() && !next.empty()) wanted_since_ = client_.loop().now();
  entries_ = std::move(next);
  count_answers();
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(counts_.times, [this](const auto& named) { return !entries_.contains(named.first); });
  }
  if (next_sweep_ == 0) next_sweep_ = now() + kSweep;
  count();
  wake();
  wake_follower();
}

/// Whoever may write Secrets of a namespace would else have every host's challenges answered: those of names count that
/// the configuration orders there.
void Certificates::count_answers() {
  bool changed = false;
  for (auto& [secret, seen] : seen_challenges_) {
    const bool counts = entries_.contains(seen.of);
    if (std::exchange(seen.counts, counts) == counts) continue;
    seen.version = kNotGiven;
    changed = true;
  }
  if (!changed) return;
  const std::uint64_t version = give_challenges();
  for (auto& [secret, seen] : seen_challenges_) {
    if (seen.counts && seen.version == kNotGiven) seen.version = version;
  }
}

void Certificates::observe(const std::string& name_space, const std::string& name, std::string_view text) {
  std::map<std::string, std::string> answers;
  Name of;
  if (text.find(kMadeLabel) != std::string_view::npos) {
    const SecretView secret = read_secret(text);
    observe_follower(name_space, name, secret);
    const std::string* const stored = secret.value(kAnswersKey);
    if (stored != nullptr && secret.role == "order" && name == order_secret_of(secret.host)) {
      answers = read_answers(*stored, secret.host);
      of = {name_space, secret.host};
    }
  }
  const std::string secret_name = name_space + "/" + name;
  const auto seen = seen_challenges_.find(secret_name);
  if (seen != seen_challenges_.end() ? seen->second.answers != answers : !answers.empty()) {
    if (answers.empty()) {
      seen_challenges_.erase(secret_name);
      give_challenges();
    } else {
      SeenChallenges& taken = seen_challenges_[secret_name];
      taken.answers = std::move(answers);
      taken.of = std::move(of);
      taken.counts = entries_.contains(taken.of);
      taken.version = taken.counts ? give_challenges() : kNotGiven;
    }
    wake_follower();
  }
  if (text.empty() && name_space == options_.name_space) followers_.erase(name);
  for (auto& [key, entry] : entries_) {
    if (key.first != name_space || program::certificate_secret_of(key.second) != name) continue;
    entry.due = 0;
    entry.again = entry.busy;
    wake();
  }
}

void Certificates::lead(bool leads) {
  names_.lead(leads);
  if (std::exchange(leads_, leads) == leads) return;
  wanted_since_ = client_.loop().now();
  // What a leader before this one knew may be old.
  for (auto& [name, entry] : entries_) entry.due = 0;
  wake();
  wake_follower();
}

void Certificates::wake_follower() {
  if (follower_pause_ == nullptr) return;
  follower_woken_ = true;
  if (follower_pause_->waiting()) follower_pause_->wake_later();
}

void Certificates::wake() {
  for (const auto& worker : workers_) {
    if (worker->idle && worker->waiter.waiting()) worker->waiter.wake_later();
  }
}

Certificates::UnderWay::UnderWay(const std::map<Name, Entry>& entries) {
  for (const auto& [name, entry] : entries) {
    if (!entry.busy) continue;
    hosts_.insert(name.second);
    ++of_authority_[authority_of(entry)];
  }
}

std::string_view Certificates::UnderWay::authority_of(const Entry& entry) {
  const auto& authorities = entry.wanted.settings.authorities;
  return authorities.empty() ? std::string_view() : std::string_view(authorities.front().directory);
}

bool Certificates::UnderWay::holds_back(const Name& name, const Entry& entry) const {
  if (hosts_.contains(name.second)) return true;
  const auto found = of_authority_.find(authority_of(entry));
  return found != of_authority_.end() && found->second >= kMostOfAuthority;
}

Certificates::Entry* Certificates::choose(std::int64_t now) {
  Entry* chosen = nullptr;
  const UnderWay under_way(entries_);
  for (auto& [name, entry] : entries_) {
    if (entry.due_at(now) > now || under_way.holds_back(name, entry)) continue;
    if (chosen == nullptr || entry.due_at(now) < chosen->due_at(now)) chosen = &entry;
  }
  return chosen;
}

/// Of those that nothing under way holds back: a round that ends has the others look again.
std::int64_t Certificates::next_due(std::int64_t now) const {
  std::int64_t due = kNever;
  const UnderWay under_way(entries_);
  for (const auto& [name, entry] : entries_) {
    if (!under_way.holds_back(name, entry)) due = std::min(due, entry.due_at(now));
  }
  return due;
}

net::Detached Certificates::run(Worker& worker) {
  ++running_;
  while (!stopping_) {
    Entry* const entry = leads_ && !secrets_.plural.empty() ? choose(now()) : nullptr;
    if (entry == nullptr) {
      const std::int64_t seconds = leads_ ? std::clamp<std::int64_t>(next_due(now()) - now(), 1, kLongestSleep) : 0;
      worker.idle = true;
      const net::Time until = leads_ ? client_.loop().now() + std::chrono::seconds(seconds) : net::kNever;
      co_await worker.waiter.wait(until);
      worker.idle = false;
      const bool sweeps = next_sweep_ != 0 && (next_sweep_ <= now() || next_sweep_ > now() + kSweep);
      if (leads_ && sweeps) (void)co_await sweep(worker);
      continue;
    }
    entry->busy = true;
    const Name name{entry->wanted.name_space, entry->wanted.host};
    const std::int64_t due = co_await look(worker, name);
    wake();
    const auto found = entries_.find(name);
    if (found == entries_.end()) continue;
    found->second.busy = false;
    found->second.due = std::exchange(found->second.again, false) ? 0 : due;
    found->second.looked = now();
    count();
  }
  --running_;
  finish_when_idle();
}

/// Why a Secret is of no use any more, for people; empty: it is, or is not known here. Certificates stay until they are
/// over: a name that comes back before needs no order. Which names controllers of another class need is not known.
std::string_view Certificates::left_over(const kube::Object& object, const SecretView& secret) const {
  if (is_stale_follower(object.name, secret)) return "its controller is gone";
  // Controllers of before wrote no class; few have another than the default one.
  const std::string_view of_class =
      secret.controller_class.empty() ? compiler::link::kDefaults.controller_class : secret.controller_class;
  if (of_class != options_.controller_class) return {};
  if (names_.is_left_over(object.name_space, object.name, secret)) return "its listener is gone";
  if (secret.host.empty() || entries_.contains({object.name_space, secret.host})) return {};
  constexpr std::string_view kUnwanted = "no listener has its name";
  if (secret.role == "order") return kUnwanted;
  if (secret.role != "certificate") return {};
  const Result<CertificateView> view = view_kept(secret);
  return view && view->until < now() ? kUnwanted : std::string_view();
}

/// Deletes what nobody wants any more; what is beyond the bound is left to the next sweep.
net::Task<bool> Certificates::sweep(Worker& worker) {
  next_sweep_ = now() + kSweep;
  kube::ListOptions options;
  options.label_selector = std::string(kMadeLabel);
  const kube::ListReply reply = co_await client_.list_all(worker.waiter, secrets_, options);
  std::size_t tried = 0;
  for (const kube::Object& object : reply.list.items) {
    if (!leads_ || stopping_ || tried == kMostSwept) break;
    const SecretView secret = read_secret(object.text);
    const std::string_view why = left_over(object, secret);
    if (why.empty()) continue;
    ++tried;
    // One that has changed since it was listed is somebody's.
    kube::DeleteOptions exactly;
    exactly.resource_version = secret.resource_version;
    const kube::Reply removed =
        co_await client_.remove(worker.waiter, secrets_, object.name_space, object.name, exactly);
    if (removed.ok()) options_.log.info("the Secret " + object.key() + " is deleted, as " + std::string(why), {});
  }
  co_return reply.ok();
}

net::Task<SecretView> Certificates::read(Worker& worker, std::string name_space, std::string name,
                                         kube::Failure& failure) {
  const kube::ObjectReply reply = co_await client_.get(worker.waiter, secrets_, std::move(name_space), std::move(name));
  failure = reply.failure;
  co_return reply.ok() ? read_secret(reply.object.text) : SecretView{};
}

void Certificates::note(const Round& round, std::string_view state, std::string fault) {
  const auto found = entries_.find({round.wanted.name_space, round.wanted.host});
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.waiting = state == "waiting";
  if (state == "valid") entry.valid = true;
  if (state == "missing") entry.valid = false;
  std::string told = std::string(state) + " " + fault;
  if (fault.empty() || std::exchange(entry.told, told) == told) return;
  options_.log.warn("certificate for " + round.wanted.host + ": " + fault,
                    {{"gateway", round.wanted.gateway},
                     {"secret", round.wanted.name_space + "/" + program::certificate_secret_of(round.wanted.host)}});
}

void Certificates::count() {
  const std::lock_guard lock(mutex_);
  counts_.valid = counts_.missing = counts_.valid_waiting = counts_.missing_waiting = 0;
  for (const auto& [name, entry] : entries_) {
    auto& count = entry.valid ? (entry.waiting ? counts_.valid_waiting : counts_.valid)
                              : (entry.waiting ? counts_.missing_waiting : counts_.missing);
    ++count;
  }
}

void Certificates::note_times(const Name& name, std::int64_t until, std::int64_t renewal) {
  const std::lock_guard lock(mutex_);
  if (counts_.times.size() < CertificateCounts::kMostTimes || counts_.times.contains(name)) {
    counts_.times[name] = {until, renewal};
  }
}

/// Since when what there is was to be replaced by one of another CA or type of key; 0: it is not.
std::int64_t Certificates::replaced_since(const Name& name, bool replaces) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return replaces ? now() : 0;
  std::int64_t& since = found->second.replace_since;
  if (!replaces) {
    since = 0;
  } else if (since == 0) {
    since = now();
  }
  return since;
}

CertificateCounts Certificates::counts() const {
  const NameCounts names = names_.counts();
  const std::lock_guard lock(mutex_);
  CertificateCounts counts = counts_;
  counts.names = names;
  return counts;
}

bool Certificates::is_wanted(const Round& round) const {
  const auto found = entries_.find({round.wanted.name_space, round.wanted.host});
  return leads_ && !stopping_ && found != entries_.end() && found->second.wanted.settings == round.wanted.settings;
}

/// \returns when to look again.
net::Task<std::int64_t> Certificates::look(Worker& worker, Name name) {
  Round round{.wanted = entries_.at(name).wanted};
  kube::Failure failure;
  round.kept = co_await read(worker, name.first, program::certificate_secret_of(name.second), failure);
  round.has_kept = failure.none();
  if (!failure.none() && !failure.not_found()) {
    if (failure.kind == kube::Failure::Kind::kRefused) note(round, "refused", "its Secret: " + failure.text());
    co_return now() + kSoon;
  }
  const std::optional<std::int64_t> kept = co_await judge_kept(worker, round);
  if (kept) co_return *kept;
  const std::optional<std::int64_t> unread = co_await read_order(worker, round);
  if (unread) co_return *unread;
  const std::int64_t due = co_await order(worker, round);
  (void)co_await clear(worker, round);
  co_return due;
}

/// Whether what is kept is to be replaced, and why. \returns when to look again; nullopt: one is to be ordered now.
net::Task<std::optional<std::int64_t>> Certificates::judge_kept(Worker& worker, Round& round) {
  const Name name{round.wanted.name_space, round.wanted.host};
  const Result<CertificateView> view = view_kept(round.kept);
  if (round.has_kept && round.kept.role != "certificate") {
    note(round, view && view->until > now() ? "valid" : "foreign",
         "the Secret " + program::certificate_secret_of(name.second) + " was made by somebody else, and is left alone");
    co_return now() + kAdviceLeast;
  }
  if (!view || !view->is_for(name.second) || view->until <= now()) {
    note(round, "missing", {});
    note_times(name, 0, 0);
    co_return std::nullopt;
  }
  // What is there is served until what replaces it is there.
  note(round, "valid", {});
  const auto& authorities = round.wanted.settings.authorities;
  const bool of_these =
      std::ranges::find(authorities, round.kept.directory, &compiler::AcmeAuthority::directory) != authorities.end();
  const bool of_type = view->has_known_key_type && view->key_type == round.wanted.settings.key_type;
  const bool revoked = round.kept.value(kRevokedKey) != nullptr;
  if (!of_these || !of_type || revoked) {
    // The time since when it is: later looks, after rounds that failed, do not move it.
    note_times(name, view->until, replaced_since(name, /*replaces=*/true));
    round.why = !of_these ? "as another CA is named"
                : revoked ? "as it is revoked"
                          : "as the type of its key is another";
    if (revoked) round.replaces = view->renewal_id;
    co_return std::nullopt;
  }
  replaced_since(name, /*replaces=*/false);
  const Renewal renewal = co_await next_renewal(worker, round, *view);
  note_times(name, view->until, renewal.at);
  if (!is_wanted(round)) co_return now() + kSoon;
  if (renewal.at > now()) {
    const std::int64_t staple = co_await keep_staple(worker, round, *view);
    co_return std::min({renewal.at, renewal.look_again, staple});
  }
  round.replaces = view->renewal_id;
  round.why = renewal.advised ? "as the CA advises" : "as two thirds of its lifetime are over";
  co_return std::nullopt;
}

/// Reads how far the order has come. \returns when to look again; nullopt: the round goes on.
net::Task<std::optional<std::int64_t>> Certificates::read_order(Worker& worker, Round& round) {
  const std::string secret = order_secret_of(round.wanted.host);
  kube::Failure failure;
  const SecretView stored = co_await read(worker, round.wanted.name_space, secret, failure);
  if (!failure.none() && !failure.not_found()) co_return now() + kSoon;
  if (failure.none() && stored.role != "order") {
    note(round, "foreign", "the Secret " + secret + " was made by somebody else");
    co_return now() + kAdviceLeast;
  }
  const std::string* const text = stored.value("order.json");
  std::optional<OrderState> state = text != nullptr ? read_order_state(*text) : std::nullopt;
  if (state && state->host == round.wanted.host) round.state = round.stored = *std::move(state);
  round.state.host = round.wanted.host;
  if (failure.none()) round.state_version = stored.resource_version;
  co_return std::nullopt;
}

net::Task<Certificates::Renewal> Certificates::next_renewal(Worker& worker, const Round& round,
                                                            const CertificateView& view) {
  const double share = share_of(round.wanted.name_space + "/" + round.wanted.host);
  Renewal due{.at = renewal_time(view, std::nullopt, share), .look_again = now() + kAdviceUsual};
  std::string fault;
  Ca* const ca = co_await ca_for(worker, round, round.kept.directory, fault);
  if (ca == nullptr) co_return due;
  CaReply reply;
  fault = co_await ca->prepare(worker.waiter, reply);
  if (!fault.empty() || !ca->renews()) co_return due;
  const std::optional<RenewalAdvice> advice = co_await ca->advice(worker.waiter, view.renewal_id);
  const std::int64_t ask_again =
      advice && advice->ask_again > 0 ? std::clamp(advice->ask_again, kAdviceLeast, kAdviceMost) : kAdviceUsual;
  co_return Renewal{
      .at = renewal_time(view, advice, share), .look_again = now() + ask_again, .advised = advice.has_value()};
}

void Certificates::stop(std::function<void()> done) {
  stopping_ = true;
  done_ = std::move(done);
  for (const auto& worker : workers_) worker->waiter.cancel();
  if (follower_ != nullptr) {
    follower_->waiter.cancel();
    follower_pause_->cancel();
  }
  names_.stop([this] { finish_when_idle(); });
  finish_when_idle();
}

void Certificates::finish_when_idle() {
  if (!stopping_ || running_ != 0 || !names_.stopped() || !done_) return;
  http_.close_idle();
  std::exchange(done_, nullptr)();
}

}  // namespace edge::controller::acme
