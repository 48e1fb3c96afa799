#include "controller/operator/reconcile.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "controller/kube/time_text.h"
#include "controller/operator/identity.h"
#include "controller/operator/installation.h"
#include "controller/operator/render/render.h"

namespace edge::cluster_operator {
namespace {

using nlohmann::json;

/// An administrator's certificate holds a year; it is asked for again long before.
constexpr auto kRenewIdentity = std::chrono::hours(24 * 200);
/// How soon agents are asked again whose addresses are on the move.
constexpr auto kAddressesMove = std::chrono::milliseconds(300);
constexpr std::string_view kIdentityMade = EDGE_API_GROUP "/identity-made";
constexpr const char* kIdentityKeys[] = {"signing.key", "ca.pem", "join", "admin.pem"};
constexpr std::string Identity::* kIdentityParts[] = {&Identity::signing_key, &Identity::authority, &Identity::join,
                                                      &Identity::administrator};

const std::string& resource_version_of(const json& object) {
  return text_in(member_in(object, "metadata"), "resourceVersion");
}

std::string resource_version_of(const ObjectPtr& object) {
  return object == nullptr ? std::string() : resource_version_of(*object);
}

std::string key_of(const Installation& installation, std::string_view part) {
  return installation.name_space + "/" + installation.part(part);
}

Identity read_identity(const json& secret) {
  Identity identity;
  const json& data = member_in(secret, "data");
  for (std::size_t i = 0; i < std::size(kIdentityKeys); ++i) {
    identity.*kIdentityParts[i] = from_base64(text_in(data, kIdentityKeys[i])).value_or("");
  }
  return identity;
}

bool is_failure(const kube::Failure& failure, const std::string& what, Standing& standing) {
  if (failure.none()) return false;
  standing.failure = what + ": " + failure.text();
  return true;
}

const Rendered& rendered_of(const std::vector<Rendered>& rendered, std::string_view kind) {
  return *std::ranges::find(rendered, kind, &Rendered::kind);
}

bool has_hash(const json& live, const std::string& hash) {
  return text_in(member_in(member_in(live, "metadata"), "annotations"), kRenderedHash) == hash;
}

/// What the last change made of it is counted in its status.
bool is_observed(const json& live) {
  return integer_in(member_in(live, "status"), "observedGeneration") >=
         integer_in(member_in(live, "metadata"), "generation");
}

/// `2026-01-31T12:00:00Z`; epoch for what is no time.
WallTime time_of(const std::string& text) {
  std::tm parts{};
  if (::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts) == nullptr) return {};
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

/// When the operator looked last whether a part of the identity is to be renewed; else when the Secret was made.
WallTime identity_made(const json& secret) {
  const json& metadata = member_in(secret, "metadata");
  return std::max(time_of(text_in(member_in(metadata, "annotations"), kIdentityMade)),
                  time_of(text_in(metadata, "creationTimestamp")));
}

AgentPod read_pod(const json& object) {
  const json& metadata = member_in(object, "metadata");
  AgentPod pod;
  pod.name = text_in(metadata, "name");
  pod.node = text_in(member_in(object, "spec"), "nodeName");
  pod.template_hash = text_in(member_in(metadata, "annotations"), kTemplateHash);
  pod.leaving = metadata.contains("deletionTimestamp");
  for (const json& condition : list_in(member_in(object, "status"), "conditions")) {
    if (text_in(condition, "type") != "Ready") continue;
    pod.ready = text_in(condition, "status") == "True";
    pod.ready_since = time_of(text_in(condition, "lastTransitionTime"));
  }
  return pod;
}

/// Without the times in it: whether two say the same.
json without_times(json status) {
  if (const auto conditions = status.find("conditions"); conditions != status.end() && conditions->is_array()) {
    for (json& condition : *conditions) {
      if (condition.is_object()) condition.erase("lastTransitionTime");
    }
  }
  return status;
}

}  // namespace

Reconciler::Reconciler(kube::Client& client, const Followed& followed, AskAgent ask, std::function<WallTime()> wall,
                       Logger log)
    : client_(client),
      followed_(followed),
      wall_(std::move(wall)),
      log_(std::move(log)),
      writer_(client, followed),
      recorder_(client, {.component = std::string(kFieldManager)}),
      replacement_(client.loop(), std::move(ask), log_) {}

bool Reconciler::set_definitions(DefinitionsResult result) {
  std::swap(definitions_, result);
  return definitions_.reason != result.reason || definitions_.message != result.message;
}

net::Task<Outcome> Reconciler::reconcile(net::Waiter& waiter, std::string cluster) {
  const ObjectPtr object = followed_.find(kClusterKind, cluster);
  if (object == nullptr) {
    records_.erase(cluster);
    statuses_.erase(cluster);
    const Outcome removed = co_await remove_rest(waiter, cluster);
    co_return removed;
  }
  // What it owns goes with it, by the API's own garbage collection.
  if (member_in(*object, "metadata").contains("deletionTimestamp")) co_return Outcome{};
  Outcome outcome;
  Standing standing;
  standing.generation = integer_in(member_in(*object, "metadata"), "generation");
  standing.paused = is_paused(*object);
  standing.definitions_reason = definitions_.reason;
  standing.definitions_message = definitions_.message;
  const auto installation = read_installation(*object);
  if (!installation) {
    standing.fault = installation.error().text;
  } else if (const json* older = older_sibling(*object)) {
    standing.fault = "EdgeCluster " + text_in(member_in(*older, "metadata"), "name") +
                     " of this namespace is older; a namespace has one installation";
  } else if (!standing.paused) {
    standing.version = installation->version;
    standing.wants_dashboard = installation->wants_dashboard;
    const bool installed = co_await install(waiter, *installation, standing, outcome.again);
    outcome.ok = installed;
    // What was removed before the informer had shown it is missing from then on.
    const net::Time unseen = writer_.take_unseen();
    if (unseen != net::kNever) outcome.again = std::min(outcome.again, wall_() + (unseen - client_.loop().now()));
    count_parts(*installation, standing);
  }
  if (!standing.failure.empty()) log_.warn("EdgeCluster " + cluster + ": " + standing.failure);
  const bool written = co_await write_status(waiter, object, standing);
  outcome.ok = outcome.ok && written;
  co_return outcome;
}

/// Two would share one Lease, and the ports of the nodes.
const json* Reconciler::older_sibling(const json& object) const {
  const json& own = member_in(object, "metadata");
  const auto age = [](const json& metadata) {
    return std::pair(text_in(metadata, "creationTimestamp"), text_in(metadata, "name"));
  };
  for (const ObjectPtr& other : followed_.all(kClusterKind)) {
    const json& metadata = member_in(*other, "metadata");
    if (text_in(metadata, "namespace") == text_in(own, "namespace") && age(metadata) < age(own)) return other.get();
  }
  return nullptr;
}

/// What has no namespace has no owner either.
net::Task<Outcome> Reconciler::remove_rest(net::Waiter& waiter, std::string cluster) {
  Outcome outcome;
  for (const std::string kind : {"ClusterRoleBinding", "ClusterRole"}) {
    const auto objects = followed_.all(kind);
    for (const ObjectPtr& object : objects) {
      if (cluster_of(*object) != cluster) continue;
      const kube::Failure failure =
          co_await writer_.remove(waiter, kind, {}, text_in(member_in(*object, "metadata"), "name"));
      if (failure.none()) continue;
      log_.warn(kind + " of EdgeCluster " + cluster + ", which is gone, cannot be removed: " + failure.text());
      outcome.ok = false;
    }
  }
  co_return outcome;
}

net::Task<bool> Reconciler::install(net::Waiter& waiter, const Installation& installation, Standing& standing,
                                    WallTime& again) {
  Identity identity;
  const bool known = co_await find_identity(waiter, installation, identity, standing, again);
  if (!known) co_return false;
  const std::vector<Rendered> rendered = render(installation, identity);
  for (const Stage stage : {Stage::kAccess, Stage::kController}) {
    const bool applied = co_await apply_stage(waiter, rendered, stage, standing);
    if (!applied) co_return false;
  }
  if (!controller_runs(installation, rendered, standing)) co_return true;
  const bool shown = co_await keep_dashboard(waiter, installation, identity, rendered, standing);
  if (!shown) co_return false;
  const Controllers controllers = controllers_of(installation, identity);
  const Exchange exchange{installation, controllers, rendered_of(rendered, "DaemonSet")};
  const bool exchanged = co_await exchange_agents(waiter, exchange, standing, again);
  co_return exchanged;
}

net::Task<bool> Reconciler::find_identity(net::Waiter& waiter, const Installation& installation, Identity& identity,
                                          Standing& standing, WallTime& again) {
  ObjectPtr secret = followed_.find("Secret", key_of(installation, "identity"));
  if (secret == nullptr) {
    // One without our label is somebody's own authority.
    const kube::ObjectReply reply = co_await client_.get(waiter, *followed_.resource("Secret"), installation.name_space,
                                                         installation.part("identity"));
    if (reply.ok()) {
      secret = std::make_shared<json>(parse_json(reply.object.text));
    } else if (!reply.failure.not_found()) {
      co_return !is_failure(reply.failure, "Secret " + installation.part("identity"), standing);
    }
  }
  if (secret != nullptr) identity = read_identity(*secret);
  const auto now = wall_();
  const WallTime renewed = (secret == nullptr ? WallTime() : identity_made(*secret)) + kRenewIdentity;
  if (identity.complete() && now < renewed) {
    again = std::min(again, renewed);
    co_return true;
  }
  auto fresh = make_identity(identity, controller_address(installation));
  if (!fresh) {
    standing.failure = "no identity can be made: " + fresh.error().text;
    co_return false;
  }
  identity = std::move(*fresh);
  const bool kept = co_await keep_identity(waiter, installation, identity, secret != nullptr, standing);
  co_return kept;
}

net::Task<bool> Reconciler::keep_identity(net::Waiter& waiter, const Installation& installation,
                                          const Identity& identity, bool there, Standing& standing) {
  json object = parse_json(identity_secret(installation, identity));
  object["metadata"]["annotations"][std::string(kIdentityMade)] = kube::time_text(wall_());
  const kube::Resource secrets = *followed_.resource("Secret");
  const std::string name = installation.part("identity");
  kube::WriteOptions options;
  options.field_manager = kFieldManager;
  ++own_writes_;
  if (there) {
    json patch = {{"data", object["data"]}, {"metadata", {{"annotations", object["metadata"]["annotations"]}}}};
    const kube::ObjectReply reply = co_await client_.patch(waiter, secrets, installation.name_space, name,
                                                           kube::PatchType::kMerge, json_line(patch), options);
    co_return !is_failure(reply.failure, "Secret " + name, standing);
  }
  // Never written over: the agents believe it.
  const kube::ObjectReply reply =
      co_await client_.create(waiter, secrets, installation.name_space, json_line(object), options);
  co_return !is_failure(reply.failure, "Secret " + name, standing);
}

net::Task<bool> Reconciler::apply_stage(net::Waiter& waiter, const std::vector<Rendered>& rendered, Stage stage,
                                        Standing& standing) {
  for (const Rendered& object : rendered) {
    if (object.stage != stage) continue;
    const kube::Failure failure = co_await writer_.apply(waiter, object);
    if (is_failure(failure, object.kind + " " + object.name, standing)) co_return false;
  }
  co_return true;
}

/// Behind the controller, whose pages it shows; agents wait for none.
net::Task<bool> Reconciler::keep_dashboard(net::Waiter& waiter, const Installation& installation,
                                           const Identity& identity, const std::vector<Rendered>& rendered,
                                           Standing& standing) {
  if (installation.wants_dashboard) {
    const bool applied = co_await apply_stage(waiter, rendered, Stage::kWeb, standing);
    if (!applied) co_return false;
  }
  const std::vector<Rendered> all = rendered_dashboard(installation, identity);
  for (const Rendered& object : all) {
    const bool wanted = std::ranges::any_of(
        rendered, [&](const Rendered& one) { return one.kind == object.kind && one.key() == object.key(); });
    const ObjectPtr live = wanted ? nullptr : followed_.find(object.kind, object.key());
    if (live == nullptr || cluster_of(*live) != installation.name_space + "/" + installation.name) continue;
    const kube::Failure failure = co_await writer_.remove(waiter, object.kind, object.name_space, object.name);
    if (is_failure(failure, object.kind + " " + object.name, standing)) co_return false;
  }
  co_return true;
}

bool Reconciler::controller_runs(const Installation& installation, const std::vector<Rendered>& rendered,
                                 Standing& standing) const {
  const ObjectPtr live = followed_.find("Deployment", key_of(installation, "controller"));
  standing.text = "waits for the controller";
  if (live == nullptr || !has_hash(*live, rendered_of(rendered, "Deployment").hash) || !is_observed(*live)) {
    standing.exchanging = true;
    return false;
  }
  const json& status = member_in(*live, "status");
  const std::int64_t wanted = integer_in(member_in(*live, "spec"), "replicas");
  standing.exchanging = integer_in(status, "updatedReplicas") < wanted;
  standing.controller_done =
      !standing.exchanging && integer_in(status, "readyReplicas") >= wanted && integer_in(status, "replicas") <= wanted;
  if (standing.controller_done) return true;
  // Agents that run already are watched on: of several controllers one may be down.
  return !standing.exchanging && integer_in(status, "availableReplicas") > 0;
}

RolloutRecord Reconciler::record_of(const Installation& installation) const {
  const ObjectPtr live = followed_.find("Secret", key_of(installation, "rollout"));
  const auto written = records_.find(installation.name_space + "/" + installation.name);
  if (written != records_.end() && written->second.before == resource_version_of(live)) return written->second.value;
  json data = json::object();
  if (live != nullptr) {
    for (const auto& [key, value] : member_in(*live, "data").items()) {
      data[key] = from_base64(text_value(value)).value_or("");
    }
  }
  return read_record(data);
}

RolloutView Reconciler::view_of(const Installation& installation, const Rendered& agents, std::int64_t wanted) const {
  const json spec = parse_json(installation.spec);
  const json& strategy = member_in(member_in(spec, "agents"), "updateStrategy");
  RolloutView view{.wanted_hash = agents.template_hash, .wanted_count = wanted};
  view.max_unavailable = unavailable_of(member_in(strategy, "maxUnavailable"), wanted);
  view.by_hand = text_in(strategy, "type") == "OnDelete";
  view.now = wall_();
  view.pods = agent_pods(installation);
  return view;
}

std::vector<AgentPod> Reconciler::agent_pods(const Installation& installation) const {
  std::vector<AgentPod> pods;
  for (const ObjectPtr& pod : followed_.all("Pod")) {
    if (cluster_of(*pod) != installation.name_space + "/" + installation.name) continue;
    const json& labels = member_in(member_in(*pod, "metadata"), "labels");
    if (text_in(labels, "app.kubernetes.io/component") == "agent") pods.push_back(read_pod(*pod));
  }
  return pods;
}

/// Each agent is connected to one of them, which its Service does not tell.
Controllers Reconciler::controllers_of(const Installation& installation, const Identity& identity) const {
  Controllers controllers{.addresses = {}, .administrator = identity.administrator};
  const std::int64_t port = integer_in(member_in(parse_json(installation.spec), "controller"), "grpcPort");
  for (const ObjectPtr& pod : followed_.all("Pod")) {
    if (cluster_of(*pod) != installation.name_space + "/" + installation.name) continue;
    const json& labels = member_in(member_in(*pod, "metadata"), "labels");
    const std::string& address = text_in(member_in(*pod, "status"), "podIP");
    if (text_in(labels, "app.kubernetes.io/component") != "controller" || address.empty()) continue;
    if (!read_pod(*pod).ready) continue;
    const bool bracketed = address.find(':') != std::string::npos;
    controllers.addresses.push_back((bracketed ? "[" + address + "]" : address) + ":" + std::to_string(port));
  }
  return controllers;
}

net::Task<bool> Reconciler::exchange_agents(net::Waiter& waiter, const Exchange& exchange, Standing& standing,
                                            WallTime& again) {
  const RolloutRecord record = record_of(exchange.installation);
  const bool failed = record.canary == RolloutRecord::Canary::kFailed &&
                      record.canary_hash == exchange.agents.template_hash && !record.sound_hash.empty();
  Rendered applied = exchange.agents;
  if (failed) {
    standing.canary = RolloutRecord::Canary::kFailed;
    standing.canary_reason = record.reason;
    applied.text = record.sound_object;
    applied.template_hash = record.sound_hash;
    const json object = parse_json(record.sound_object);
    applied.hash = text_in(member_in(member_in(object, "metadata"), "annotations"), kRenderedHash);
  }
  const kube::Failure failure = co_await writer_.apply(waiter, applied);
  if (is_failure(failure, "DaemonSet " + applied.name, standing)) co_return false;
  const ObjectPtr live = followed_.find("DaemonSet", applied.key());
  standing.text = "waits for the DaemonSet of agents";
  standing.exchanging = true;
  if (live == nullptr || !has_hash(*live, applied.hash) || !is_observed(*live)) co_return true;
  const std::int64_t wanted = integer_in(member_in(*live, "status"), "desiredNumberScheduled");
  RolloutView view = view_of(exchange.installation, applied, wanted);
  Comparison comparison = co_await compare_canary(waiter, exchange, view, record);
  view.comparison = std::move(comparison);
  RolloutStep step = next_step(
      view, record, {.hold = exchange.installation.canary_duration, .patience = exchange.installation.canary_timeout});
  standing.exchanging =
      std::ranges::any_of(view.pods, [&](const AgentPod& pod) { return pod.template_hash != view.wanted_hash; });
  standing.text = step.text;
  standing.agents_done = step.kind == RolloutStep::Kind::kDone && !failed;
  if (!failed && step.record.canary_hash == applied.template_hash) {
    standing.canary = step.record.canary;
    standing.canary_reason = step.record.reason;
  }
  if (standing.agents_done) {
    step.record.sound_hash = applied.template_hash;
    step.record.sound_object = applied.text;
    // Asked for again later on, another template is tried again.
    if (step.record.canary_hash != applied.template_hash) {
      step.record.canary_hash.clear();
      step.record.canary = RolloutRecord::Canary::kNone;
    }
  }
  const bool taken = co_await take_step(waiter, exchange, view, step, record, standing);
  again = std::min(again, step.kind == RolloutStep::Kind::kGoBack ? view.now : step.until);
  co_return taken;
}

net::Task<Comparison> Reconciler::compare_canary(net::Waiter& waiter, const Exchange& exchange, const RolloutView& view,
                                                 const RolloutRecord& record) {
  const AgentPod* const pod = watched_canary(view, record);
  if (pod == nullptr) co_return Comparison{};
  const WallTime since = std::max(pod->ready_since, record.since);
  CanaryAgent canary{.name = pod->node,
                     .age = std::chrono::duration_cast<std::chrono::seconds>(view.now - since),
                     .before = record.before};
  for (const AgentPod& other : view.pods) {
    if (other.ready && !other.leaving && other.node != pod->node) canary.others.push_back(other.node);
  }
  Comparison comparison = co_await replacement_.compare(waiter, exchange.controllers, std::move(canary));
  co_return comparison;
}

net::Task<bool> Reconciler::keep_record(net::Waiter& waiter, const Installation& installation,
                                        const RolloutRecord& record, Standing& standing) {
  const Rendered secret = rollout_secret(installation, write_record(record));
  const std::string version = resource_version_of(followed_.find("Secret", secret.key()));
  const kube::Failure failure = co_await writer_.apply(waiter, secret);
  if (is_failure(failure, "Secret " + secret.name, standing)) co_return false;
  records_[installation.name_space + "/" + installation.name] = {.value = record, .before = version};
  co_return true;
}

/// The record first: who is killed in between goes on with it.
net::Task<bool> Reconciler::take_step(net::Waiter& waiter, const Exchange& exchange, const RolloutView& view,
                                      RolloutStep& step, const RolloutRecord& before, Standing& standing) {
  const bool begins = step.kind == RolloutStep::Kind::kReplace && step.record != before &&
                      step.record.canary == RolloutRecord::Canary::kStarted;
  if (begins) {
    std::string measured = co_await replacement_.measure(waiter, exchange.controllers, step.record.canary_node);
    step.record.before = std::move(measured);
  }
  if (step.record != before) {
    const bool kept = co_await keep_record(waiter, exchange.installation, step.record, standing);
    if (!kept) co_return false;
  }
  if (step.kind != RolloutStep::Kind::kReplace) co_return true;
  const bool replaced = co_await replace_pods(waiter, exchange, view, step, standing);
  co_return replaced;
}

/// Virtual addresses first, then the pods of agents that have none.
net::Task<bool> Reconciler::replace_pods(net::Waiter& waiter, const Exchange& exchange, const RolloutView& view,
                                         RolloutStep& step, Standing& standing) {
  std::vector<std::string> serving;
  std::map<std::string, std::string> nodes;
  for (const AgentPod& pod : view.pods) {
    nodes[pod.name] = pod.node;
    if (pod.ready && std::ranges::find(step.pods, pod.name) != step.pods.end()) serving.push_back(pod.node);
  }
  const std::vector<std::string> free = co_await replacement_.move_away(waiter, exchange.controllers, serving);
  for (const std::string& pod : step.pods) {
    const std::string& node = nodes[pod];
    const bool serves = std::ranges::find(serving, node) != serving.end();
    if (serves && std::ranges::find(free, node) == free.end()) {
      step.until = std::min(step.until, view.now + kAddressesMove);
      continue;
    }
    const kube::Failure failure = co_await writer_.remove(waiter, "Pod", exchange.installation.name_space, pod);
    if (is_failure(failure, "Pod " + pod, standing)) co_return false;
    log_.info("agent pod " + exchange.installation.name_space + "/" + pod + " is replaced");
  }
  co_return true;
}

void Reconciler::count_parts(const Installation& installation, Standing& standing) const {
  if (const ObjectPtr live = followed_.find("Deployment", key_of(installation, "controller"))) {
    standing.controllers = integer_in(member_in(*live, "spec"), "replicas");
    standing.controllers_ready = integer_in(member_in(*live, "status"), "readyReplicas");
  }
  if (const ObjectPtr live = followed_.find("Deployment", key_of(installation, "web"))) {
    standing.dashboards = integer_in(member_in(*live, "spec"), "replicas");
    standing.dashboards_ready = integer_in(member_in(*live, "status"), "readyReplicas");
    standing.web_done = standing.dashboards_ready >= standing.dashboards && is_observed(*live) &&
                        integer_in(member_in(*live, "status"), "updatedReplicas") >= standing.dashboards;
  }
  if (const ObjectPtr live = followed_.find("DaemonSet", key_of(installation, "agent"))) {
    standing.agents = integer_in(member_in(*live, "status"), "desiredNumberScheduled");
    // As the phase counts them: the DaemonSet's own figure may come later than its pods.
    standing.agents_ready =
        std::ranges::count_if(agent_pods(installation), [](const AgentPod& pod) { return pod.ready && !pod.leaving; });
  }
}

net::Task<bool> Reconciler::write_status(net::Waiter& waiter, const ObjectPtr& object, const Standing& standing) {
  const json& metadata = member_in(*object, "metadata");
  const std::string key = text_in(metadata, "namespace") + "/" + text_in(metadata, "name");
  const json before = member_in(*object, "status");
  const json after = next_status(before, standing, wall_());
  const json said = without_times(after);
  if (said == without_times(before)) co_return true;
  const auto written = statuses_.find(key);
  const std::string text = json_line(said);
  // The informer is still to come.
  if (written != statuses_.end() && written->second.before == resource_version_of(object) &&
      written->second.value == text) {
    co_return true;
  }
  kube::WriteOptions options;
  options.field_manager = kFieldManager;
  options.subresource = "status";
  ++own_writes_;
  const json patch = {{"status", after}};
  const kube::ObjectReply reply =
      co_await client_.patch(waiter, *followed_.resource(kClusterKind), text_in(metadata, "namespace"),
                             text_in(metadata, "name"), kube::PatchType::kMerge, json_line(patch), options);
  if (reply.failure.not_found()) co_return true;
  if (!reply.ok()) {
    log_.warn("the status of EdgeCluster " + key + " cannot be written: " + reply.failure.text());
    co_return false;
  }
  statuses_[key] = {.value = text, .before = resource_version_of(object)};
  tell(*object, before, after);
  co_return true;
}

/// An event where the phase turns, and where a condition does.
void Reconciler::tell(const json& object, const json& before, const json& after) {
  const json& metadata = member_in(object, "metadata");
  const kube::Regarding regarding{.api_version = text_in(object, "apiVersion"),
                                  .kind = std::string(kClusterKind),
                                  .name_space = text_in(metadata, "namespace"),
                                  .name = text_in(metadata, "name"),
                                  .uid = text_in(metadata, "uid")};
  const std::string& phase = text_in(after, "phase");
  if (phase != text_in(before, "phase")) {
    std::string message = phase;
    for (const json& condition : list_in(after, "conditions")) {
      if (text_in(condition, "type") == "Ready") message = text_in(condition, "message");
    }
    const bool bad = phase == "Degraded" || phase == "Failed";
    recorder_.record(regarding, bad ? kube::EventLevel::kWarning : kube::EventLevel::kNormal, phase, message);
  }
  for (const json& condition : list_in(after, "conditions")) {
    if (text_in(condition, "type") == "Ready") continue;
    const bool same = std::ranges::any_of(list_in(before, "conditions"), [&](const json& old) {
      return text_in(old, "type") == text_in(condition, "type") &&
             text_in(old, "status") == text_in(condition, "status");
    });
    const bool bad = text_in(condition, "reason") == "Failed" || text_in(condition, "type") == "DefinitionsOutdated";
    if (same) continue;
    recorder_.record(regarding, bad ? kube::EventLevel::kWarning : kube::EventLevel::kNormal,
                     text_in(condition, "type") + text_in(condition, "reason"), text_in(condition, "message"));
  }
}

}  // namespace edge::cluster_operator
