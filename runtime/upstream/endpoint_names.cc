#include "runtime/upstream/endpoint_names.h"

#include <algorithm>
#include <compare>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>

#include "base/text/ascii.h"

namespace edge::runtime {
namespace {

using net::client::NameAnswer;
using net::client::NameQueries;
using net::client::ServiceTarget;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Question {
  std::string host;
  bool services = false;
  friend auto operator<=>(const Question&, const Question&) = default;
};

Question question_of(const program::EndpointName& name) { return {name.host, name.port == 0}; }
Question question_of(const ServiceTarget& target) { return {target.host, false}; }

std::string text_of(const program::EndpointName& name) {
  return name.port == 0 ? name.host : name.host + ":" + std::to_string(name.port);
}

/// Those that take requests (RFC 2782): of the lowest priority, with weights from 1 to kMostEndpointWeight. A single
/// dot says that the service is not offered.
std::vector<ServiceTarget> offered(std::vector<ServiceTarget> targets, std::size_t most) {
  for (ServiceTarget& target : targets) target.host = ascii_lower(target.host);
  std::erase_if(targets,
                [](const ServiceTarget& one) { return one.port == 0 || !program::is_endpoint_name(one.host); });
  if (targets.empty()) return targets;
  const std::uint16_t first = std::ranges::min_element(targets, {}, &ServiceTarget::priority)->priority;
  std::erase_if(targets, [&](const ServiceTarget& one) { return one.priority != first; });
  const std::uint32_t heaviest = std::ranges::max_element(targets, {}, &ServiceTarget::weight)->weight;
  for (ServiceTarget& target : targets) {
    // They are names from the root: search lists are not tried.
    if (!target.host.ends_with('.')) target.host += '.';
    if (heaviest <= program::kMostEndpointWeight) {
      target.weight = std::max<std::uint16_t>(1, target.weight);
    } else {
      const std::uint32_t scaled = std::uint32_t{target.weight} * program::kMostEndpointWeight / heaviest;
      target.weight = static_cast<std::uint16_t>(std::max(1u, scaled));
    }
  }
  std::ranges::sort(targets, {}, [](const ServiceTarget& one) { return std::tie(one.host, one.port, one.weight); });
  if (targets.size() > most) targets.resize(most);
  return targets;
}

}  // namespace

struct EndpointNames::State {
  struct Lookup {
    std::vector<IpAddress> addresses{};  ///< ascending
    std::vector<ServiceTarget> targets{};
    std::string error{};
    unsigned failures = 0;  ///< in a row
    unsigned denials = 0;   ///< in a row
    bool answered = false;
    bool asking = false;
    bool wanted = false;
    Clock::time_point due{};
    std::uint64_t count = 0;
    std::uint64_t failed = 0;
  };

  State(EndpointNameOptions from, Backends& to, std::function<void(bool)> then)
      : options(std::move(from)),
        backends(to),
        answered(std::move(then)),
        queries(options.queries, [this] { return work(); }) {}

  void set(std::shared_ptr<const program::EndpointSet> endpoints);
  NameQueries::Time work();
  void take(const Question& question, NameAnswer answer);

  // Under the mutex:
  void keep(const Question& question, Lookup& lookup, NameAnswer answer);
  void find_wanted();
  Lookup* want(Question question);
  const Lookup* find(const Question& question) const;
  std::vector<program::Endpoint> endpoints_of(const program::BackendEndpoints& backend);
  Backends::Resolved changes();
  bool all_answered() const;
  NameStatus status_of(const program::EndpointName& name) const;
  milliseconds around(milliseconds pause, double least, double most);

  const EndpointNameOptions options;
  Backends& backends;
  const std::function<void(bool)> answered;

  mutable std::mutex mutex;
  mutable std::condition_variable answers;
  std::shared_ptr<const program::EndpointSet> written;
  std::vector<const program::BackendEndpoints*> named;  ///< of `written`, ascending by id
  std::map<Question, Lookup> lookups;
  Backends::Resolved served;  ///< of `named`
  /// What backends had before, of those whose names are not all answered.
  Backends::Resolved before;
  bool changed = false;    ///< there are answers that are not served
  std::size_t asking = 0;  ///< of `lookups`
  std::minstd_rand random{std::random_device{}()};
  /// Ends before what it works on.
  NameQueries queries;
};

milliseconds EndpointNames::State::around(milliseconds pause, double least, double most) {
  const double factor = std::uniform_real_distribution<double>(least, most)(random);
  return milliseconds(static_cast<std::int64_t>(static_cast<double>(pause.count()) * factor));
}

EndpointNames::State::Lookup* EndpointNames::State::want(Question question) {
  const auto found = lookups.find(question);
  if (found == lookups.end() && lookups.size() >= options.max_names) return nullptr;
  Lookup& lookup = found == lookups.end() ? lookups[std::move(question)] : found->second;
  lookup.wanted = true;
  return &lookup;
}

const EndpointNames::State::Lookup* EndpointNames::State::find(const Question& question) const {
  const auto found = lookups.find(question);
  return found == lookups.end() || !found->second.wanted ? nullptr : &found->second;
}

void EndpointNames::State::find_wanted() {
  for (auto& [question, lookup] : lookups) lookup.wanted = false;
  for (const program::BackendEndpoints* backend : named) {
    for (const program::EndpointName& name : backend->names) {
      const Lookup* const lookup = want(question_of(name));
      if (lookup == nullptr) continue;
      for (const ServiceTarget& target : lookup->targets) want(question_of(target));
    }
  }
  // One that is asked for is forgotten with its answer.
  std::erase_if(lookups, [](const auto& one) { return !one.second.wanted && !one.second.asking; });
}

std::vector<program::Endpoint> EndpointNames::State::endpoints_of(const program::BackendEndpoints& backend) {
  program::BackendEndpoints all;
  all.endpoints = backend.endpoints;
  bool complete = true;
  const auto add = [&](const Question& question, std::uint16_t port, std::uint32_t weight,
                       const program::EndpointZones& zones) {
    const Lookup* const lookup = find(question);
    if (lookup == nullptr) return;
    complete &= lookup->answered;
    const auto bounded = static_cast<std::uint16_t>(std::min<std::uint32_t>(weight, program::kMostEndpointWeight));
    for (const IpAddress& address : lookup->addresses) {
      all.endpoints.push_back({.address = address, .port = port, .weight = bounded, .zones = zones});
    }
  };
  for (const program::EndpointName& name : backend.names) {
    add(question_of(name), name.port, name.weight, name.zones);
    const Lookup* const lookup = find(question_of(name));
    if (lookup == nullptr) continue;
    for (const ServiceTarget& target : lookup->targets) {
      add(question_of(target), target.port, std::uint32_t{target.weight} * name.weight, name.zones);
    }
  }
  if (complete) {
    before.erase(backend.backend_id);
  } else if (const auto kept = before.find(backend.backend_id); kept != before.end()) {
    all.endpoints.insert(all.endpoints.end(), kept->second.begin(), kept->second.end());
  }
  program::sort(all);
  const std::size_t most = std::max(options.max_endpoints, backend.endpoints.size());
  if (all.endpoints.size() > most) all.endpoints.resize(most);
  return std::move(all.endpoints);
}

Backends::Resolved EndpointNames::State::changes() {
  Backends::Resolved others;
  for (const program::BackendEndpoints* backend : named) {
    std::vector<program::Endpoint> next = endpoints_of(*backend);
    std::vector<program::Endpoint>& now = served[backend->backend_id];
    if (next == now) continue;
    now = next;
    others.emplace(backend->backend_id, std::move(next));
  }
  return others;
}

void EndpointNames::State::set(std::shared_ptr<const program::EndpointSet> endpoints) {
  const std::lock_guard lock(mutex);
  std::vector<const program::BackendEndpoints*> next;
  Backends::Resolved previous;
  for (const program::BackendEndpoints& backend : endpoints->backends) {
    if (backend.names.empty()) continue;
    next.push_back(&backend);
    const std::uint64_t id = backend.backend_id;
    if (const auto known = served.find(id); known != served.end()) {
      previous.emplace(id, std::move(known->second));
    } else if (written != nullptr) {
      const auto old = std::ranges::lower_bound(written->backends, id, {}, &program::BackendEndpoints::backend_id);
      if (old != written->backends.end() && old->backend_id == id) previous.emplace(id, old->endpoints);
    }
  }
  written = std::move(endpoints);
  named = std::move(next);
  before = std::move(previous);
  served.clear();
  find_wanted();
  changes();
  changed = false;
  backends.set_endpoints(written, served);
  if (named.empty()) return;
  if (queries.start()) return queries.wake();
  for (auto& [question, lookup] : lookups) lookup.error = "no descriptor is left";
}

NameQueries::Time EndpointNames::State::work() {
  std::unique_lock lock(mutex);
  const bool tell = std::exchange(changed, false);
  bool other_endpoints = false;
  if (tell) {
    Backends::Resolved others = changes();
    other_endpoints = !others.empty();
    // Under the lock, so that nothing older comes after it.
    if (!others.empty()) backends.change_resolved(std::move(others));
  }
  const Clock::time_point now = Clock::now();
  Clock::time_point next = Clock::time_point::max();
  for (auto& [question, lookup] : lookups) {
    if (lookup.asking) continue;
    if (lookup.due > now) {
      next = std::min(next, lookup.due);
      continue;
    }
    // The next answer makes room.
    if (asking >= options.max_asking) continue;
    lookup.asking = true;
    ++asking;
    auto done = [this, question](NameAnswer answer) { take(question, std::move(answer)); };
    question.services ? queries.ask_services(question.host, std::move(done))
                      : queries.ask_addresses(question.host, std::move(done));
  }
  lock.unlock();
  if (!tell) return next;
  answered(other_endpoints);
  answers.notify_all();
  return next;
}

void EndpointNames::State::take(const Question& question, NameAnswer answer) {
  const std::lock_guard lock(mutex);
  const auto found = lookups.find(question);
  if (found == lookups.end()) return;
  found->second.asking = false;
  --asking;
  if (found->second.wanted) keep(question, found->second, std::move(answer));
  find_wanted();
  changed = true;
}

void EndpointNames::State::keep(const Question& question, Lookup& lookup, NameAnswer answer) {
  const Clock::time_point now = Clock::now();
  lookup.answered = true;
  ++lookup.count;
  if (answer.outcome == NameAnswer::Outcome::kFound) {
    lookup.failures = lookup.denials = 0;
    lookup.error.clear();
    std::erase_if(answer.addresses, [&](const IpAddress& address) {
      return std::ranges::any_of(options.denied, [&](const Cidr& block) { return block.contains(address); });
    });
    lookup.addresses = std::move(answer.addresses);
    lookup.targets = offered(std::move(answer.targets), options.max_addresses);
    std::ranges::sort(lookup.addresses);
    if (lookup.addresses.size() > options.max_addresses) lookup.addresses.resize(options.max_addresses);
    if (question.services && lookup.targets.empty()) lookup.error = "the service is not offered";
    if (!question.services && lookup.addresses.empty()) lookup.error = "it leads to denied addresses alone";
    if (!lookup.error.empty()) ++lookup.failed;
    const auto lifetime = std::min<milliseconds>(answer.lifetime, options.keep_most);
    // A little early, and not all at one time.
    lookup.due = now + std::max(around(lifetime, 0.9, 1), options.keep_least);
    return;
  }
  ++lookup.failed;
  lookup.error = std::move(answer.error);
  lookup.denials = answer.outcome == NameAnswer::Outcome::kNothing ? lookup.denials + 1 : 0;
  if (lookup.denials >= options.denials) {
    lookup.addresses.clear();
    lookup.targets.clear();
  }
  const milliseconds pause = options.first_pause * (std::int64_t{1} << std::min(lookup.failures++, 16u));
  lookup.due = now + around(std::min(pause, options.longest_pause), 0.75, 1.25);
}

bool EndpointNames::State::all_answered() const {
  return !changed &&
         std::ranges::all_of(lookups, [](const auto& one) { return !one.second.wanted || one.second.answered; });
}

NameStatus EndpointNames::State::status_of(const program::EndpointName& name) const {
  NameStatus status{.name = text_of(name)};
  const Lookup* const lookup = find(question_of(name));
  if (lookup == nullptr) {
    status.error = "not looked up: there are more than " + std::to_string(options.max_names) + " names";
    return status;
  }
  status.addresses = lookup->addresses.size();
  status.error = lookup->error;
  status.lookups = lookup->count;
  status.failed_lookups = lookup->failed;
  for (const ServiceTarget& target : lookup->targets) {
    const Lookup* const of_target = find(question_of(target));
    if (of_target == nullptr) continue;
    status.addresses += of_target->addresses.size();
    status.lookups += of_target->count;
    status.failed_lookups += of_target->failed;
    if (status.error.empty() && !of_target->error.empty()) status.error = target.host + ": " + of_target->error;
  }
  return status;
}

EndpointNames::EndpointNames(EndpointNameOptions options, Backends& backends, std::function<void(bool)> answered)
    : state_(std::make_unique<State>(std::move(options), backends, std::move(answered))) {}

EndpointNames::~EndpointNames() = default;

void EndpointNames::set(std::shared_ptr<const program::EndpointSet> endpoints) { state_->set(std::move(endpoints)); }

bool EndpointNames::wait_for_answers(std::chrono::milliseconds patience) const {
  std::unique_lock lock(state_->mutex);
  return state_->answers.wait_for(lock, patience, [&] { return state_->all_answered(); });
}

void EndpointNames::add_to(std::vector<BackendStatus>& backends) const {
  const std::lock_guard lock(state_->mutex);
  for (BackendStatus& backend : backends) {
    const auto found = std::ranges::lower_bound(state_->named, backend.id, {}, &program::BackendEndpoints::backend_id);
    if (found == state_->named.end() || (*found)->backend_id != backend.id) continue;
    for (const program::EndpointName& name : (*found)->names) backend.names.push_back(state_->status_of(name));
  }
}

}  // namespace edge::runtime
