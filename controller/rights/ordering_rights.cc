#include "controller/rights/ordering_rights.h"

#include <map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/rights/access.h"

namespace edge::controller {
namespace {

using nlohmann::json;

const kube::Resource& review_resource() {
  static const kube::Resource kReview{.group = "authorization.k8s.io",
                                      .version = "v1",
                                      .plural = "selfsubjectaccessreviews",
                                      .kind = "SelfSubjectAccessReview",
                                      .namespaced = false};
  return kReview;
}

std::string review(const std::string& name_space, const std::string& verb) {
  return json_line(
      json{{"apiVersion", "authorization.k8s.io/v1"},
           {"kind", "SelfSubjectAccessReview"},
           {"spec", {{"resourceAttributes", {{"namespace", name_space}, {"resource", "secrets"}, {"verb", verb}}}}}});
}

}  // namespace

struct OrderingRights::State {
  State(kube::Client& of, OrderingRightsOptions chosen)
      : client(of), options(std::move(chosen)), waiter(of.loop()), pause(of.loop()) {}

  enum class Known : std::uint8_t { kNot, kMissing, kThere };

  kube::Client& client;
  const OrderingRightsOptions options;
  net::Waiter waiter;  ///< of calls
  net::Waiter pause;   ///< between them
  std::map<std::string, Known> namespaces;
  bool leads = false;
  bool running = false;
  bool stopped = false;

  bool has_open() const {
    for (const auto& [name, known] : namespaces) {
      if (known != Known::kThere) return true;
    }
    return false;
  }
  net::Task<kube::Failure> look(std::string name_space);
  void note(const std::string& name_space, const std::string& verb);
  net::Detached run(std::shared_ptr<State> self);
  void wake(const std::shared_ptr<State>& self) {
    if (!running && !stopped && leads && has_open()) run(self);
  }
};

/// `verb`: the first that is not allowed; empty: all are.
void OrderingRights::State::note(const std::string& name_space, const std::string& verb) {
  const auto found = namespaces.find(name_space);
  if (found == namespaces.end()) return;
  const Known before = std::exchange(found->second, verb.empty() ? Known::kThere : Known::kMissing);
  if (before == found->second) return;
  if (verb.empty()) {
    if (before == Known::kMissing) {
      options.log.info("the controller may write Secrets now, and orders certificates", {{"namespace", name_space}});
    }
    return;
  }
  const std::string message = "certificates cannot be ordered for " + name_space + ": the controller may not " + verb +
                              " Secrets there; give it the right with acme.enabled of the chart, `edgectl install "
                              "--acme`, or deploy/rbac/acme";
  options.log.error(message, {{"namespace", name_space}});
  if (options.missing) options.missing(name_space, message);
}

/// A server without reviews (the embedded API has none that refuse) leaves it unknown: the write itself says it then.
net::Task<kube::Failure> OrderingRights::State::look(std::string name_space) {
  std::string missing;
  const std::vector<std::string> verbs = ordering_access().front().verbs;
  for (const std::string& verb : verbs) {
    const kube::ObjectReply reply = co_await client.create(waiter, review_resource(), {}, review(name_space, verb));
    if (!reply.ok()) co_return reply.failure;
    const json answer = parse_json(reply.object.text);
    const json& allowed = member_in(member_in(answer, "status"), "allowed");
    if (allowed.is_boolean() && allowed.get<bool>()) continue;
    missing = verb;
    break;
  }
  if (!stopped) note(name_space, missing);
  co_return kube::Failure{};
}

net::Detached OrderingRights::State::run(std::shared_ptr<State> self) {
  State& state = *self;
  state.running = true;
  while (!state.stopped && state.leads && state.has_open()) {
    std::vector<std::string> open;
    for (const auto& [name, known] : state.namespaces) {
      if (known != Known::kThere) open.push_back(name);
    }
    for (const std::string& name : open) {
      if (state.stopped || !state.leads) break;
      const kube::Failure failure = co_await state.look(name);
      if (!failure.none()) break;
    }
    if (state.stopped || !state.has_open()) break;
    const net::Wake wake = co_await state.pause.wait(state.client.loop().now() + state.options.again);
    if (wake == net::Wake::kCancelled) break;
  }
  state.running = false;
}

OrderingRights::OrderingRights(kube::Client& client, OrderingRightsOptions options)
    : state_(std::make_shared<State>(client, std::move(options))) {}

OrderingRights::~OrderingRights() {
  state_->stopped = true;
  state_->waiter.cancel();
  state_->pause.cancel();
}

void OrderingRights::set_namespaces(std::set<std::string> namespaces) {
  std::map<std::string, State::Known> next;
  bool more = false;
  for (const std::string& name : namespaces) {
    if (next.size() == kMostNamespaces) break;
    const auto known = state_->namespaces.find(name);
    more = more || known == state_->namespaces.end();
    next.emplace(name, known == state_->namespaces.end() ? State::Known::kNot : known->second);
  }
  state_->namespaces = std::move(next);
  // Else it would be asked for with those that are asked for again.
  if (more) state_->pause.wake(net::Wake::kReady);
  state_->wake(state_);
}

void OrderingRights::lead(bool leads) {
  state_->leads = leads;
  state_->wake(state_);
}

}  // namespace edge::controller
