// One round of ordering: from the stored state to a certificate or a wait.
#include "controller/acme/round.h"

#include <chrono>
#include <utility>

#include "controller/acme/rounds.h"
#include "program/values/ordered_certificates.h"

namespace edge::controller::acme {

using namespace std::chrono_literals;
using compiler::ChallengeKind;

namespace {

/// Of an agent that takes nothing the connection is ended after a minute (Hub::kPatience), and it does not count any
/// more; one that takes what it is sent and does not come to run it keeps no certificate back for ever.
constexpr auto kAcknowledging = 90s;
constexpr auto kLookAgain = 20ms;
constexpr auto kDnsTime = 60s;
/// Seconds until the responder is asked again for the first staple of a certificate that must have one.
constexpr std::int64_t kStapleSoon = 300;

}  // namespace

/// \returns false where another controller was first, or the API does not take it.
net::Task<bool> Certificates::save(Worker& worker, Round& round) {
  if (round.state == round.stored && round.answers == round.stored_answers && !round.state_version.empty()) {
    co_return true;
  }
  const std::string name = order_secret_of(round.wanted.host);
  const std::string& space = round.wanted.name_space;
  SecretText text{.name_space = space,
                  .name = name,
                  .role = "order",
                  .host = round.wanted.host,
                  .controller_class = options_.controller_class,
                  .data = {{"order.json", write_order_state(round.state)}}};
  if (!round.answers.empty()) text.data.emplace(kAnswersKey, write_answers(round.answers));
  kube::ObjectReply reply;
  if (round.state_version.empty()) {
    reply = co_await client_.create(worker.waiter, secrets_, space, write_secret(text));
  } else {
    reply = co_await client_.update(worker.waiter, secrets_, space, name, write_secret(text, round.state_version));
  }
  if (!reply.ok()) {
    if (!reply.failure.conflict() && !reply.failure.already_exists()) {
      note(round, "refused", "the order's Secret cannot be written: " + reply.failure.text());
    }
    co_return false;
  }
  round.state_version = reply.object.resource_version;
  round.stored = round.state;
  round.stored_answers = round.answers;
  co_return true;
}

net::Task<std::int64_t> Certificates::order(Worker& worker, Round& round) {
  const compiler::AcmeSettings& settings = round.wanted.settings;
  begin_round(round.state, settings, now());
  if (round.state.not_before > now()) {
    note(round, "waiting", round.state.fault);
    co_return round.state.not_before;
  }
  if (is_claimed(round.state, options_.identity, now())) co_return now() + kSoon;
  std::string why;
  const std::vector<ChallengeKind> kinds = answerable(round.wanted, why);
  if (kinds.empty()) {
    const std::int64_t due = co_await wait_for_listener(worker, round, why);
    co_return due;
  }
  if (!std::exchange(round.state.waits_for, {}).empty()) {
    const bool saved = co_await save(worker, round);
    if (!saved) co_return now() + kSoon;
  }
  if (round.state.key.empty() || round.state.url.empty()) {
    auto key = make_key(settings.key_type);
    if (!key) co_return now() + kSoon;
    round.state.key = *std::move(key);
  }
  OrderFault fault;
  std::string chain;
  Ca* const ca = co_await prepare_ca(worker, round, fault);
  (void)co_await report_account(worker, round, fault);
  if (!is_wanted(round)) co_return now() + kSoon;
  if (fault.text.empty()) {
    const bool whole = co_await carry_out(worker, round, *ca, kinds, fault, chain);
    if (!whole) co_return now() + kSoon;
  }
  // Another directory, another account, another Secret: all are looked at anew.
  const bool known = fault.kind == FailureKind::kValidation || fault.kind == FailureKind::kLimited;
  if (ca != nullptr && !fault.text.empty() && !known) ca->invalidate();
  const auto entry = entries_.find({round.wanted.name_space, round.wanted.host});
  if (entry != entries_.end() && !std::exchange(entry->second.registers_anew, fault.account_gone) &&
      fault.account_gone) {
    round.state.url.clear();
    (void)co_await save(worker, round);
    co_return now();
  }
  if (!chain.empty() && round.state.staging) {
    options_.log.info("a trial at the staging directory has succeeded for " + round.wanted.host, {});
    end_trial(round.state, now());
    (void)co_await save(worker, round);
    co_return now();
  }
  if (!chain.empty()) {
    const std::int64_t due = co_await finish(worker, round, chain);
    co_return due;
  }
  const std::int64_t due = co_await end_in_failure(worker, round, fault);
  co_return due;
}

/// The CA of the round with its account ready, unless `fault` says why not. Null: always with a fault.
net::Task<Ca*> Certificates::prepare_ca(Worker& worker, const Round& round, OrderFault& fault) {
  Ca* const ca = co_await ca_for(worker, round, round.state.directory, fault.text);
  if (ca == nullptr) {
    fault.kind = FailureKind::kConfiguration;
    co_return nullptr;
  }
  CaReply reply;
  fault.text = co_await ca->prepare(worker.waiter, reply);
  fault.retry_after = reply.retry_after;
  fault.kind = failure_kind_of(reply);
  co_return ca;
}

/// Begins the order, or goes on with it, up to a chain or a fault. \returns false as perform() does.
net::Task<bool> Certificates::carry_out(Worker& worker, Round& round, const Ca& ca, std::vector<ChallengeKind> kinds,
                                        OrderFault& fault, std::string& chain) {
  if (round.state.url.empty()) {
    round.state.owner = options_.identity;
    round.state.created = now();
    const bool saved = co_await save(worker, round);
    if (!saved) co_return false;
    options_.log.info("a certificate for " + round.wanted.host + " is ordered from " + round.state.directory +
                          (round.why.empty() ? "" : ", " + round.why),
                      {{"gateway", round.wanted.gateway}});
  } else {
    options_.log.info("the order of a certificate for " + round.wanted.host + " is continued",
                      {{"gateway", round.wanted.gateway}, {"order", round.state.url}});
  }
  Order order(round.state, {.challenges = std::move(kinds),
                            .new_order = ca.new_order(),
                            .preferred_chain = round.preferred_chain(),
                            .replaces = ca.renews() ? round.replaces : std::string()});
  const bool whole = co_await perform(worker, round, order);
  if (!whole) co_return false;
  fault = order.fault();
  chain = order.chain();
  co_return true;
}

/// \returns when the next round is.
net::Task<std::int64_t> Certificates::end_in_failure(Worker& worker, Round& round, const OrderFault& fault) {
  const double share = share_of(round.wanted.name_space + "/" + round.wanted.host);
  end_round(round.state, round.wanted.settings, fault, now(), share);
  {
    const std::lock_guard lock(mutex_);
    ++counts_.failed[static_cast<std::size_t>(fault.kind)];
  }
  (void)co_await save(worker, round);
  // Who reads it may end this process, and count on the next one to know of the failure.
  note(round, "waiting", fault.text);
  (void)co_await report_round(worker, round, fault);
  co_return round.state.not_before;
}

/// \returns false where the order is somebody else's now, or of no use any more: what was stored remains.
net::Task<bool> Certificates::perform(Worker& worker, Round& round, Order& order) {
  for (;;) {
    if (order.state() != round.state) {
      round.state = order.state();
      const bool saved = co_await save(worker, round);
      if (!saved) co_return false;
    }
    if (!is_wanted(round)) co_return false;
    if (!order.is_presenting()) (void)co_await clear(worker, round);
    const Action action = order.next();
    switch (action.kind) {
      case Action::Kind::kDone:
      case Action::Kind::kFailed:
        co_return true;
      case Action::Kind::kWait: {
        const net::Wake wake = co_await worker.waiter.wait(client_.loop().now() + std::chrono::seconds(action.seconds));
        if (wake == net::Wake::kCancelled) co_return false;
        order.waited();
        break;
      }
      case Action::Kind::kPresent: {
        const Challenge challenge = order.challenge();
        const std::string fault = co_await present(worker, round, challenge);
        if (!fault.empty()) note(round, "challenge", fault);
        // A CA that is told now would validate against whoever has the port.
        const std::string unreached = unreached_by(round.wanted, challenge.kind);
        if (!unreached.empty()) {
          (void)co_await wait_for_listener(worker, round, unreached);
          co_return false;
        }
        order.presented();
        break;
      }
      case Action::Kind::kPost: {
        std::string fault;
        Ca* const ca = co_await ca_for(worker, round, round.state.directory, fault);
        if (ca == nullptr) co_return false;
        const CaReply reply = co_await ca->post(worker.waiter, action.url, action.payload);
        if (stopping_) co_return false;
        order.take(reply, now());
        break;
      }
    }
  }
}

/// Every agent answers: which of them the CA comes to is not known. \returns why not all of them do.
net::Task<std::string> Certificates::present(Worker& worker, Round& round, Challenge challenge) {
  std::string fault;
  Ca* const ca = co_await ca_for(worker, round, round.state.directory, fault);
  if (ca == nullptr) co_return fault;
  const std::string authorization = challenge.token + "." + ca->key().thumbprint();
  if (challenge.kind == ChallengeKind::kHttp01) {
    const std::string key = program::http_challenge_key(round.wanted.host, challenge.token);
    challenges_[key] = round.answers[key] = authorization;
    round.challenges.push_back(key);
  } else if (challenge.kind == ChallengeKind::kDns01) {
    const std::string value = dns_value(authorization);
    round.records.push_back(value);
    fault = co_await change_record(worker, round, value, DnsChange::kAdd);
    if (!fault.empty()) co_return fault;
    const auto delay = round.wanted.settings.dns->propagation_delay;
    (void)co_await worker.waiter.wait(client_.loop().now() + delay);
    co_return std::string();
  } else {
    const auto shown = challenge_certificate(round.wanted.host, authorization);
    if (!shown) co_return shown.error().text;
    const std::string key = program::alpn_challenge_key(round.wanted.host);
    challenges_[key] = round.answers[key] = *shown;
    round.challenges.push_back(key);
  }
  std::uint64_t version = give_challenges();
  const bool saved = co_await save(worker, round);
  if (!saved) co_return "the answer to the CA's challenge cannot be stored";
  const net::Time until = client_.loop().now() + kAcknowledging;
  while (!events_.acknowledged(version) || !followers_have(round)) {
    if (client_.loop().now() >= until) co_return "not every agent has the answer to the CA's challenge";
    if (version == kNotGiven) version = give_challenges();
    const net::Wake wake = co_await worker.waiter.wait(client_.loop().now() + kLookAgain);
    if (wake == net::Wake::kCancelled) break;
  }
  co_return std::string();
}

net::Task<std::string> Certificates::change_record(Worker& worker, const Round& round, std::string value,
                                                   DnsChange change) {
  const auto& settings = round.wanted.settings.dns;
  if (!settings) co_return "the issuer does not say how TXT records are written";
  if (settings->hook && options_.dns_hook.empty()) co_return "no program for DNS is named (--acme-dns-hook)";
  std::string key;
  if (!settings->hook && !settings->key_secret.empty()) {
    kube::Failure failure;
    const SecretView secret = co_await read(worker, round.wanted.name_space, settings->key_secret, failure);
    const std::string* const found = secret.value("secret");
    if (found == nullptr || !is_dns_key(*found)) {
      co_return "the Secret " + settings->key_secret + " has no key `secret` in base64";
    }
    key = *found;
  }
  net::ProgramCall call = dns_call(*settings, key, options_.dns_hook, round.wanted.host, value, change);
  call.until = client_.loop().now() + kDnsTime;
  const std::string program = call.words.front();
  const net::ProgramOutcome outcome = co_await net::run_program(client_.loop(), worker.waiter, std::move(call));
  co_return dns_fault(outcome, program);
}

/// Ends what is answered for the round. Records that cannot be removed are told, and stay.
net::Task<bool> Certificates::clear(Worker& worker, Round& round) {
  withdraw(round);
  const std::vector<std::string> records = std::exchange(round.records, {});
  for (const std::string& value : records) {
    const std::string fault = co_await change_record(worker, round, value, DnsChange::kRemove);
    if (!fault.empty()) note(round, "challenge", "the TXT record remains: " + fault);
  }
  co_return true;
}

void Certificates::withdraw(Round& round) {
  bool any = false;
  round.answers.clear();
  for (const std::string& key : std::exchange(round.challenges, {})) any = challenges_.erase(key) != 0 || any;
  if (any) give_challenges();
}

/// \returns the version of values with them.
std::uint64_t Certificates::give_challenges() {
  std::map<std::string, std::string> all = challenges_;
  for (const auto& [secret, seen] : seen_challenges_) {
    if (seen.counts) all.insert(seen.answers.begin(), seen.answers.end());
  }
  if (all.empty()) return events_.challenges(nullptr);
  program::NamedSecret secret{std::string(program::kChallengeSpace), std::string(program::kChallengeName), {}};
  for (const auto& [key, value] : all) secret.values.push_back({key, std::make_shared<const std::string>(value)});
  return events_.challenges(std::make_shared<const program::NamedSecret>(std::move(secret)));
}

SecretText Certificates::certificate_text(const Round& round, const std::string& directory, const std::string& chain,
                                          const std::string& key) const {
  return {.name_space = round.wanted.name_space,
          .name = program::certificate_secret_of(round.wanted.host),
          .role = "certificate",
          .type = "kubernetes.io/tls",
          .host = round.wanted.host,
          .directory = directory,
          .controller_class = options_.controller_class,
          .replaced_revoked = last_revoked(round.kept, now()),
          .data = {{std::string(program::kCertificateKey), chain}, {std::string(program::kPrivateKeyKey), key}}};
}

bool Certificates::keeps_valid(const Round& round, std::int64_t now) {
  if (!round.has_kept || round.kept.value(kRevokedKey) != nullptr) return false;
  const Result<CertificateView> view = view_kept(round.kept);
  return view && view->is_for(round.wanted.host) && view->until > now;
}

/// Certificate and key are replaced by one write.
net::Task<std::int64_t> Certificates::finish(Worker& worker, Round& round, const std::string& chain) {
  const std::string name = program::certificate_secret_of(round.wanted.host);
  const std::string& space = round.wanted.name_space;
  SecretText text = certificate_text(round, round.state.directory, chain, round.state.key);
  const auto view = view_certificate(chain, round.state.key);
  if (view && view->asks_for_staple && !view->responder.empty()) {
    // Clients refuse it without one. Where nothing else is there it is put to use all the same, and one comes later.
    const Fetched fetched = co_await fetch_staple(worker, chain, round.state.key, view->responder);
    if (!fetched.staple.empty()) {
      text.data[std::string(program::kStapleKey)] = fetched.staple;
    } else if (keeps_valid(round, now())) {
      // The order stays, and is fetched from again: what is there works meanwhile.
      note(
          round, "staple",
          "its renewal waits for the OCSP response of " + printable(view->responder) + ": " + printable(fetched.fault));
      co_return now() + kStapleSoon;
    }
  }
  kube::ObjectReply reply;
  if (round.has_kept) {
    reply =
        co_await client_.update(worker.waiter, secrets_, space, name, write_secret(text, round.kept.resource_version));
  } else {
    reply = co_await client_.create(worker.waiter, secrets_, space, write_secret(text));
  }
  if (!reply.ok()) {
    // The order stays, and is fetched from again.
    note(round, "refused", "its Secret cannot be written: " + reply.failure.text());
    co_return now() + kSoon;
  }
  {
    const std::lock_guard lock(mutex_);
    ++(round.has_kept ? counts_.renewed : counts_.issued);
  }
  options_.log.info(std::string(round.has_kept ? "the certificate for " : "a certificate for ") + round.wanted.host +
                        (round.has_kept ? " is renewed" : " is there"),
                    {{"gateway", round.wanted.gateway},
                     {"secret", space + "/" + name},
                     {"days", std::to_string(view ? (view->until - now()) / 86400 : 0)}});
  kube::DeleteOptions options;
  options.resource_version = round.state_version;
  const kube::Reply removed =
      co_await client_.remove(worker.waiter, secrets_, space, order_secret_of(round.wanted.host), options);
  if (!removed.ok() && removed.failure.kind == kube::Failure::Kind::kRefused && !removed.failure.not_found()) {
    note(round, "refused", "the order's Secret cannot be deleted: " + removed.failure.text());
  }
  note(round, "valid", {});
  (void)co_await report_round(worker, round, {});
  // Looked at once more, for when it is to be renewed.
  co_return now() + 1;
}

}  // namespace edge::controller::acme
