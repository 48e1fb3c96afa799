#include "controller/acme/on_demand.h"

#include <algorithm>
#include <chrono>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/acme/gateway_event.h"
#include "controller/acme/order.h"
#include "controller/acme/secrets.h"
#include "net/client/url.h"
#include "program/values/ordered_certificates.h"

namespace edge::controller::acme {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr auto kAskTime = 5s;
/// The status counts; a page for people may come with it.
constexpr std::size_t kMostAnswer = std::size_t{256} << 10;
/// Between two writes of one listener's Secret, so that many new names are one.
constexpr auto kGather = 200ms;
constexpr auto kIdle = 60s;
constexpr auto kNextLook = 60s;
constexpr int kTries = 5;
/// Before a listener's Secret that could not be read or written is tried again, doubled each time.
constexpr net::Duration kFirstFaultPause = 5s;
constexpr net::Duration kLongestFaultPause = 60s;
/// Between two writes of a listener's Secret for a fault alone, and between two events of it.
constexpr auto kBetweenFaults = 60s;
constexpr auto kBetweenEvents = 10min;
/// By which clocks of controllers may differ.
constexpr std::int64_t kMostAhead = 24 * 3600;
/// A use is written when the one that is known is older than this part of the time that unused names are kept.
constexpr std::int64_t kUsePart = 10;

std::map<std::string, std::int64_t> names_in(const SecretView& secret) {
  std::map<std::string, std::int64_t> names;
  const std::string* const text = secret.value(program::kOnDemandNamesKey);
  const json object = text != nullptr ? parse_json(*text) : json();
  if (!object.is_object()) return names;
  for (const auto& [host, used] : object.items()) {
    if (used.is_number_integer()) names.emplace(host, used.get<std::int64_t>());
  }
  return names;
}

std::string text_of(const std::map<std::string, std::int64_t>& names) {
  json object = json::object();
  for (const auto& [host, used] : names) object[host] = used;
  return json_line(object);
}

std::string listener_of(const compiler::OrderedBundle& bundle) {
  const auto& answering = bundle.on_demand_certificate.tls_listeners;
  return answering.empty() ? std::string() : answering.front().listener;
}

/// `gateway/listener`.
std::string full_name(const compiler::OrderedBundle& bundle) {
  const std::string& gateway = bundle.on_demand_certificate.gateway;
  return gateway.substr(gateway.find('/') + 1) + "/" + listener_of(bundle);
}

}  // namespace

std::string_view to_string(NameDecision decision) {
  switch (decision) {
    case NameDecision::kAdded:
      return "added";
    case NameDecision::kRefused:
      return "refused";
    case NameDecision::kUnanswered:
      return "unanswered";
    case NameDecision::kLimited:
      break;
  }
  return "limited";
}

OnDemand::OnDemand(kube::Client& client, net::client::HttpClient& http, OnDemandOptions options)
    : client_(client), http_(http), options_(std::move(options)), recorder_(client), writer_(client.loop()) {
  for (std::size_t i = 0; i < Questions::kMost; ++i) askers_.push_back(std::make_unique<Worker>(client.loop()));
  for (const auto& asker : askers_) ask_all(*asker);
  write_all();
}

OnDemand::~OnDemand() = default;

std::int64_t OnDemand::now() const {
  if (options_.wall) return options_.wall();
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void OnDemand::set_listeners(const std::vector<compiler::OrderedBundle>& bundles) {
  std::map<Name, Listener> next;
  for (const compiler::OrderedBundle& bundle : bundles) {
    if (!bundle.on_demand) continue;
    const Name name{bundle.name_space, bundle.name};
    Listener listener;
    if (const auto known = listeners_.find(name); known != listeners_.end()) listener = std::move(known->second);
    // Who may have a certificate is another question now.
    if (!listener.bundle.on_demand || *listener.bundle.on_demand != *bundle.on_demand) refused_.clear();
    listener.bundle = bundle;
    listener.next_look = {};
    next.emplace(name, std::move(listener));
  }
  listeners_ = std::move(next);
  kept_.clear();
  for (const auto& [name, listener] : listeners_) {
    kept_.emplace(name.first, program::on_demand_secret_of(name.second));
  }
  count();
  wake(writer_);
}

bool OnDemand::is_left_over(const std::string& name_space, const std::string& name, const SecretView& secret) const {
  if (secret.role != "names" || kept_.contains({name_space, name})) return false;
  const std::int64_t oldest = now() - kKeepWithoutListener;
  return std::ranges::all_of(names_in(secret), [oldest](const auto& one) { return one.second < oldest; });
}

void OnDemand::want(const std::vector<WantedName>& names) {
  for (const WantedName& one : names) {
    const auto found = listeners_.find({one.name_space, one.secret});
    if (found == listeners_.end() || !found->second.bundle.may_have(one.host)) continue;
    Listener& listener = found->second;
    if (const auto known = listener.names.find(one.host); known != listener.names.end()) {
      const std::int64_t since = listener.bundle.on_demand->keep_unused.count() / kUsePart;
      // A clock that was set back makes a use look as if it were to come.
      if (known->second + since <= now() || known->second > now()) add(listener, one.host);
      continue;
    }
    // What is served and not known is the listener's own.
    if (one.served || listener.changes.contains(one.host)) continue;
    if (!listener.bundle.listed_by(one.host).empty()) {
      add(listener, one.host);
      continue;
    }
    const std::string& url = listener.bundle.on_demand->ask_url;
    const auto refused = refused_.find({url, one.host});
    if (refused != refused_.end() && refused->second.until > client_.loop().now()) continue;
    if (questions_.add(one)) continue;
    meet(listener, NameFaults::Kind::kBusy);
    decided(NameDecision::kLimited, one.host);
  }
  for (const auto& asker : askers_) wake(*asker);
}

/// Or uses it once more. Written soon, and counted then.
void OnDemand::add(Listener& listener, const std::string& host) {
  const bool is_new = !listener.names.contains(host);
  std::size_t more = 0;
  for (const auto& [name, used] : listener.changes) more += listener.names.contains(name) ? 0 : 1;
  if (is_new && listener.names.size() + more >= listener.bundle.on_demand->max_names) {
    meet(listener, NameFaults::Kind::kFull);
    return decided(NameDecision::kLimited, host);
  }
  listener.changes[host] = now();
  wake(writer_);
}

void OnDemand::decided(NameDecision decision, const std::string& host) {
  {
    const std::lock_guard lock(mutex_);
    ++counts_.decided[static_cast<std::size_t>(decision)];
  }
  if (decision == NameDecision::kAdded) {
    return options_.log.info("a client asks for " + host + ", which gets a certificate", {});
  }
  // Strangers choose the names: a few lines a minute.
  if (const auto held_back = lines_.admit()) {
    options_.log.info("a client asks for " + host + ", which gets no certificate",
                      {{"decision", std::string(to_string(decision))}, {"not_told", std::to_string(*held_back)}});
  }
}

net::Task<NameDecision> OnDemand::ask(Worker& worker, std::string url, std::string host) {
  // A host name needs no escapes.
  url += (url.find('?') == std::string::npos ? "?domain=" : "&domain=") + host;
  const auto parsed = net::client::parse_url(url);
  if (!parsed) co_return NameDecision::kUnanswered;
  if (parsed->secure && system_ == nullptr) {
    auto made = std::make_shared<net::tls::Authorities>();
    if (!made->add_system()) co_return NameDecision::kUnanswered;
    system_ = std::move(made);
  }
  const net::client::Call call{.url = *parsed,
                               .until = client_.loop().now() + kAskTime,
                               .max_body = kMostAnswer,
                               .repeatable = true,
                               .authorities = system_};
  const net::client::Answer answer = co_await http_.call(worker.waiter, call);
  constexpr int kOk = 200, kServerError = 500;
  if (!answer.ok() || answer.status >= kServerError) co_return NameDecision::kUnanswered;
  co_return answer.status == kOk ? NameDecision::kAdded : NameDecision::kRefused;
}

/// \returns false when the process ends.
net::Task<bool> OnDemand::decide(Worker& worker, WantedName wanted) {
  const Name name{wanted.name_space, wanted.secret};
  const auto found = listeners_.find(name);
  if (found == listeners_.end() || !found->second.bundle.may_have(wanted.host)) co_return true;
  const std::string url = found->second.bundle.on_demand->ask_url;
  const auto refused = refused_.find({url, wanted.host});
  if (refused != refused_.end() && refused->second.until > client_.loop().now()) co_return true;
  const NameDecision decision = co_await ask(worker, url, wanted.host);
  if (stopping_) co_return false;
  const auto again = listeners_.find(name);
  if (again == listeners_.end() || again->second.bundle.on_demand->ask_url != url) co_return true;
  if (decision == NameDecision::kUnanswered) {
    meet(again->second, NameFaults::Kind::kUnanswered);
  } else {
    again->second.faults.end(NameFaults::Kind::kUnanswered);
  }
  if (decision == NameDecision::kAdded) {
    add(again->second, wanted.host);
    co_return true;
  }
  decided(decision, wanted.host);
  if (refused_.size() >= kMostRemembered) {
    std::erase_if(refused_, [this](const auto& one) { return one.second.until <= client_.loop().now(); });
    if (refused_.size() >= kMostRemembered) refused_.erase(refused_.begin());
  }
  refused_[{url, wanted.host}] = {client_.loop().now() +
                                  (decision == NameDecision::kRefused ? kRefusedTime : kUnansweredTime)};
  co_return true;
}

net::Detached OnDemand::ask_all(Worker& worker) {
  ++running_;
  while (!stopping_) {
    const std::optional<Questions::Next> next = questions_.take(now());
    if (!next) {
      (void)co_await worker.pause.wait(net::kNever);
      continue;
    }
    // Whom others keep from being asked for is not remembered by it.
    if (!next->allowed) {
      const auto found = listeners_.find({next->name.name_space, next->name.secret});
      if (found != listeners_.end()) meet(found->second, NameFaults::Kind::kBusy);
      decided(NameDecision::kLimited, next->name.host);
      continue;
    }
    const bool goes_on = co_await decide(worker, next->name);
    questions_.ended(next->name);
    if (!goes_on) break;
  }
  ended();
}

/// What keeps a listener's names from being read or written; empty: nothing. Said once.
void OnDemand::tell(const Name& name, Listener& listener, const std::string& fault) {
  if (std::exchange(listener.fault, fault) == fault) return;
  const std::string what = "names on demand, Secret " + program::on_demand_secret_of(name.second);
  if (fault.empty()) return options_.log.info(what + ": works again", {{"namespace", name.first}});
  options_.log.warn(what + ": " + fault, {{"namespace", name.first}, {"listener", name.second}});
}

/// Kept and told with the next look, soon where none was for a while.
void OnDemand::meet(Listener& listener, NameFaults::Kind kind) {
  const bool first = listener.faults.text(now()).empty();
  listener.faults.meet(kind, now());
  if (!first || client_.loop().now() < listener.next_fault) return;
  listener.next_look = {};
  wake(writer_);
}

/// By an event of the gateway, where it is another than before; with a later look where the gateway cannot be read.
net::Task<bool> OnDemand::announce(Name name, std::string fault) {
  const auto found = listeners_.find(name);
  if (found == listeners_.end() || found->second.announced == fault) co_return false;
  Listener& listener = found->second;
  if (client_.loop().now() < listener.next_event) co_return false;
  const std::string gateway = listener.bundle.on_demand_certificate.gateway;
  std::string message = "listener " + listener_of(listener.bundle) + ": ";
  message += fault.empty() ? "names on demand get certificates again" : fault;
  const bool recorded = co_await record_of_gateway(
      client_, writer_.waiter, recorder_, gateway,
      fault.empty() ? kube::EventLevel::kNormal : kube::EventLevel::kWarning,
      fault.empty() ? "CertificatesOnDemandWork" : "CertificatesOnDemandFail", std::move(message));
  const auto still = listeners_.find(name);
  if (recorded && still != listeners_.end()) {
    still->second.next_event = client_.loop().now() + kBetweenEvents;
    still->second.announced = std::move(fault);
  }
  co_return recorded;
}

/// Those are in the Secret now.
void OnDemand::take_written(Listener& listener, std::map<std::string, std::int64_t> names,
                            const std::map<std::string, std::int64_t>& before,
                            const std::map<std::string, std::int64_t>& written) {
  for (const auto& [host, used] : written) {
    const auto change = listener.changes.find(host);
    if (change != listener.changes.end() && change->second == used) listener.changes.erase(change);
    if (before.contains(host)) continue;
    const bool added = names.contains(host);
    if (!added) meet(listener, NameFaults::Kind::kFull);
    decided(added ? NameDecision::kAdded : NameDecision::kLimited, host);
  }
  listener.names = std::move(names);
  if (listener.names.size() < listener.bundle.on_demand->max_names) listener.faults.end(NameFaults::Kind::kFull);
  count();
}

/// Reads a listener's Secret, and writes it where there is something to be changed. \returns what it fails by; empty:
/// it is done.
net::Task<std::string> OnDemand::write(Name name) {
  const std::string secret_name = program::on_demand_secret_of(name.second);
  for (int tried = 0; tried < kTries && !stopping_; ++tried) {
    const kube::ObjectReply found = co_await client_.get(writer_.waiter, secrets_, name.first, secret_name);
    const auto at = listeners_.find(name);
    if (at == listeners_.end()) co_return std::string();
    Listener& listener = at->second;
    if (!found.ok() && !found.failure.not_found()) co_return found.failure.text();
    const SecretView secret = found.ok() ? read_secret(found.object.text) : SecretView{};
    if (found.ok() && secret.role != "names") co_return "it was made by somebody else";
    std::map<std::string, std::int64_t> names = names_in(secret);
    const std::map<std::string, std::int64_t> before = names;
    for (const auto& [host, used] : listener.changes) {
      if (names.contains(host) || names.size() < listener.bundle.on_demand->max_names) names[host] = used;
    }
    const std::int64_t oldest = now() - listener.bundle.on_demand->keep_unused.count();
    if (leads_) {
      // A clock that was ahead has left uses to come, which would be kept for ever.
      for (auto& [host, used] : names) used = used > now() + kMostAhead ? now() : used;
      std::erase_if(names, [oldest](const auto& one) { return one.second < oldest; });
    }
    const std::map<std::string, std::int64_t> written = listener.changes;
    const KeptFault kept = read_fault(secret.fault);
    KeptFault fault = next_fault(kept, options_.identity, listener.faults.text(now()), now());
    // Strangers bring faults about: for one alone the Secret is written once a minute at most.
    if (names == before && client_.loop().now() < listener.next_fault) fault = kept;
    if (names != before || fault != kept) {
      const SecretText text{.name_space = name.first,
                            .name = secret_name,
                            .role = "names",
                            .controller_class = options_.controller_class,
                            .listener = full_name(listener.bundle),
                            .fault = write_fault(fault),
                            .data = {{std::string(program::kOnDemandNamesKey), text_of(names)}}};
      kube::ObjectReply reply;
      if (found.ok()) {
        reply = co_await client_.update(writer_.waiter, secrets_, name.first, secret_name,
                                        write_secret(text, secret.resource_version));
      } else {
        reply = co_await client_.create(writer_.waiter, secrets_, name.first, write_secret(text));
      }
      if (!reply.ok() && (reply.failure.conflict() || reply.failure.already_exists())) continue;
      if (!reply.ok()) co_return reply.failure.text();
    }
    const auto still = listeners_.find(name);
    if (still == listeners_.end()) co_return std::string();
    if (fault != kept) still->second.next_fault = client_.loop().now() + kBetweenFaults;
    take_written(still->second, std::move(names), before, written);
    co_return std::string();
  }
  co_return "others change it again and again";
}

/// Writes it, or tries again later.
net::Task<bool> OnDemand::keep(Name name) {
  const std::string fault = co_await write(name);
  const auto found = listeners_.find(name);
  if (stopping_ || found == listeners_.end()) co_return !stopping_;
  Listener& listener = found->second;
  tell(name, listener, fault);
  const std::string seen = fault.empty() ? listener.faults.text(now()) : "the Secret of its names: " + fault;
  if (!fault.empty()) {
    listener.pause = std::clamp<net::Duration>(listener.pause * 2, kFirstFaultPause, kLongestFaultPause);
    listener.try_again = client_.loop().now() + listener.pause;
  } else {
    listener.pause = {};
    listener.try_again = {};
    // Names of other controllers come with it, and what is not used any more is looked for.
    listener.next_look = client_.loop().now() + kNextLook;
  }
  (void)co_await announce(name, seen);
  co_return !stopping_;
}

net::Detached OnDemand::write_all() {
  ++running_;
  while (!stopping_) {
    std::vector<Name> due;
    net::Time until = client_.loop().now() + net::Duration(listeners_.empty() ? 3600s : kIdle);
    for (const auto& [name, listener] : listeners_) {
      if (listener.changes.empty() && listener.next_look > client_.loop().now()) continue;
      if (listener.try_again <= client_.loop().now()) {
        due.push_back(name);
      } else {
        until = std::min(until, listener.try_again);
      }
    }
    if (due.empty() || secrets_.plural.empty()) {
      (void)co_await writer_.pause.wait(until);
      if (!stopping_) (void)co_await writer_.waiter.wait(client_.loop().now() + kGather);
      continue;
    }
    for (const Name& name : due) {
      const bool kept = co_await keep(name);
      if (!kept) break;
    }
  }
  ended();
}

void OnDemand::wake(Worker& worker) {
  if (worker.pause.waiting()) worker.pause.wake_later();
}

void OnDemand::count() {
  const std::lock_guard lock(mutex_);
  counts_.any = !listeners_.empty();
  counts_.names = 0;
  for (const auto& [name, listener] : listeners_) counts_.names += listener.names.size();
}

NameCounts OnDemand::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void OnDemand::stop(std::function<void()> done) {
  stopping_ = true;
  done_ = std::move(done);
  for (const auto& asker : askers_) {
    asker->waiter.cancel();
    asker->pause.cancel();
  }
  writer_.waiter.cancel();
  writer_.pause.cancel();
}

void OnDemand::ended() {
  --running_;
  if (stopped() && done_) std::exchange(done_, nullptr)();
}

}  // namespace edge::controller::acme
