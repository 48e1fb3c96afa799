#include "edgectl/web/api/api.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/os/idle_memory.h"
#include "base/text/json.h"
#include "edgectl/web/access/reply_filter.h"
#include "edgectl/web/api/explain_request.h"
#include "edgectl/web/api/object_reply.h"
#include "edgectl/web/api/replies.h"
#include "edgectl/web/api/views/address_list.h"
#include "edgectl/web/api/views/policy_cover.h"
#include "edgectl/web/api/views/wan_view.h"
#include "edgectl/web/server/guard.h"

namespace edge::edgectl::web {
namespace {

using net::server::Reply;
using net::server::Request;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMostWaiting = 16;
constexpr net::Duration kPollAgents = std::chrono::milliseconds(200);
constexpr net::Duration kPollTraffic = std::chrono::seconds(2);
constexpr std::size_t kMostAgentBytes = 200'000;
constexpr unsigned kPollsPerBeat = 7;
/// Statuses may trickle in for minutes.
constexpr net::Duration kReleaseEvery = std::chrono::seconds(5);
constexpr net::Duration kCollect = std::chrono::milliseconds(150);
constexpr net::Duration kFleetTime = std::chrono::seconds(25);
constexpr std::size_t kMostEnded = 10'000;

std::string text_of(const Jobs::Outcome& outcome) {
  return outcome.result ? *outcome.result : error_text(outcome.result.error().text);
}

std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Returns whether it is of the agents, which is another right than to see objects. A new call is put on one of the
/// sides.
bool is_of_agents(CallId id) {
  switch (id) {
    case CallId::kSession:
    case CallId::kRights:
    case CallId::kRightsOfCluster:
    case CallId::kOpenApi:
    case CallId::kEvents:
    case CallId::kKinds:
    case CallId::kProblems:
    case CallId::kObjects:
    case CallId::kObject:
    case CallId::kObjectOfCluster:
    case CallId::kExplain:
    case CallId::kTraffic:
    case CallId::kTopology:
    case CallId::kWan:
    case CallId::kPolicyCover:
    case CallId::kAddresses:
    case CallId::kCertificates:
    case CallId::kFields:
    case CallId::kEdit:
    case CallId::kEditOfCluster:
    case CallId::kCheck:
    case CallId::kDifference:
    case CallId::kApply:
    case CallId::kDelete:
    case CallId::kGivenClaims:
    case CallId::kProve:
    case CallId::kAnalysis:
      return false;
    case CallId::kEndpoints:
    case CallId::kAccessLog:
    case CallId::kTraces:
    case CallId::kTrace:
    case CallId::kAgents:
    case CallId::kAgent:
    case CallId::kDrain:
    case CallId::kUndrain:
    case CallId::kRange:
    case CallId::kHistory:
    case CallId::kCompare:
    case CallId::kExplainKept:
    case CallId::kProgress:
    case CallId::kRollback:
    case CallId::kRelease:
    case CallId::kFederation:
    case CallId::kFederationConflict:
    case CallId::kResolveConflict:
      break;
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<Api>> Api::make(net::Loop& loop, ApiOptions options) {
  auto client = kube::Client::make(loop, options.config, {.user_agent = "edgectl/" EDGE_VERSION});
  if (!client) return client.error();
  return std::unique_ptr<Api>(new Api(loop, std::move(options), std::move(*client)));
}

Api::Api(net::Loop& loop, ApiOptions options, std::unique_ptr<kube::Client> client)
    : loop_(loop),
      options_(std::move(options)),
      client_(std::move(client)),
      waiters_(loop),
      store_(*client_, [this](std::string_view plural) { changed(plural); }),
      viewers_(*client_, waiters_, [this] { return listable(); }),
      fleet_(options_.arguments),
      ranges_(options_.metrics_url),
      request_log_(options_.arguments),
      traces_(options_.arguments),
      federation_(options_.arguments),
      fleet_jobs_(loop, kMostWaiting),
      watched_fleet_(options_.arguments),
      watch_jobs_(loop, /*most=*/2),
      compiler_(*client_, store_, waiters_, options_.controller_class),
      desk_({store_, waiters_, compiler_, fleet_, fleet_jobs_}, options_.claims),
      poll_(loop),
      traffic_poll_(loop),
      soon_(loop) {}

Api::~Api() = default;

void Api::start() {
  store_.start();
  poll_agents();
  poll_traffic();
}

void Api::stop() {
  stopping_ = true;
  store_.stop();
  hub_.close();
  fleet_jobs_.close();
  watch_jobs_.close();
  compiler_.stop();
  poll_.cancel();
  traffic_poll_.cancel();
  soon_.cancel();
  waiters_.stop();
}

net::Task<Reply> Api::answer(const Request& request, const LoggedIn* login) {
  if (const auto foreign = foreign_call(request, options_.public_origin)) co_return error_reply(403, *foreign);
  FoundCall found = find_call(request.method, request.path);
  if (found.allow.empty()) co_return error_reply(404, "the API has no such call: see /api/openapi.json");
  if (found.call == nullptr) {
    Reply reply = error_reply(405, "only " + found.allow);
    reply.fields.emplace_back("Allow", found.allow);
    co_return reply;
  }
  const Call& call = *found.call;
  if (call.changes && options_.read_only) co_return error_reply(403, "this server is read-only (--read-only)");
  if (call.method != "GET" && !request.field("content-type").starts_with("application/json")) {
    co_return error_reply(415, "the body is to be application/json");
  }
  ++answered_;
  if (!call.query.empty()) found.parameters.push_back(request.query);
  Viewing viewing = co_await viewing_of(login);
  if (!viewing.fault.empty()) co_return error_reply(503, "what you may see is not known: " + viewing.fault);
  Reply reply = co_await answer_call(call, std::move(found.parameters), request.body, std::move(viewing));
  co_return reply;
}

void Api::logged_out(const std::string& session) {
  if (session.empty()) return;
  // Its cookies are refused by the login; this is for streams alone, which have ended by the next one.
  if (ended_.size() >= kMostEnded) ended_.clear();
  ended_.insert(session);
  hub_.beat();
}

net::Task<Api::Viewing> Api::viewing_of(const LoggedIn* login) {
  if (login == nullptr) return Viewing{.viewer = viewers_.own(), .visible = Visible::all()};
  auto viewer = viewers_.find(login->identity);
  if (!viewer) return Viewing{.fault = viewer.error().text};
  return find_viewing(std::move(*viewer), login->session, login->until);
}

net::Task<Api::Viewing> Api::find_viewing(std::shared_ptr<Viewer> viewer, std::string session, std::int64_t until) {
  FoundVisible found = co_await viewers_.visible(viewer);
  co_return Viewing{.viewer = std::move(viewer),
                    .visible = std::move(found.visible),
                    .session = std::move(session),
                    .until = until,
                    .fault = std::move(found.fault)};
}

Listable Api::listable() const {
  Listable listable;
  for (const auto& kind : store_.kinds()) {
    if (!kind->served) continue;
    listable.kinds.push_back(&kind->kind);
    for (const auto& [key, object] : kind->objects) {
      if (!object.name_space.empty()) listable.spaces.insert(object.name_space);
    }
  }
  return listable;
}

net::Task<Reply> Api::answer_call(const Call& call, std::vector<std::string> at, std::string body, Viewing viewing) {
  if (!is_of_agents(call.id)) return of_store(call, std::move(at), std::move(body), std::move(viewing));
  if (!(call.changes ? viewing.visible->may_change_agents() : viewing.visible->may_see_agents())) {
    return error_reply(403, std::string("you may not ") + (call.changes ? "update" : "list") +
                                " agents in the API group " + std::string(kAgentsGroup));
  }
  return of_agents(call, std::move(at), std::move(body), std::move(viewing));
}

net::Task<Reply> Api::of_store(const Call& call, std::vector<std::string> at, std::string body, Viewing viewing) {
  switch (call.id) {
    case CallId::kSession:
      return session(viewing);
    case CallId::kRights:
      return rights(std::move(viewing), std::move(at[0]), std::move(at[1]));
    case CallId::kRightsOfCluster:
      return rights(std::move(viewing), std::move(at[0]), {});
    case CallId::kOpenApi:
      return json_reply(openapi_json());
    case CallId::kEvents:
      return events(viewing);
    case CallId::kKinds:
      return kinds(viewing);
    case CallId::kProblems:
      return problems(viewing);
    case CallId::kObjects:
      return objects(viewing, at[0]);
    case CallId::kObject:
      return object(std::move(viewing), std::move(at[0]), std::move(at[1]), std::move(at[2]));
    case CallId::kObjectOfCluster:
      return object(std::move(viewing), std::move(at[0]), {}, std::move(at[1]));
    case CallId::kExplain:
      return explain(std::move(viewing), std::move(body));
    case CallId::kTraffic:
      return of_fleet(std::move(viewing), [this] { return fleet_.traffic(); }, visible_traffic);
    case CallId::kTopology:
      return topology(viewing, at[0]);
    case CallId::kWan:
      return json_reply(json_line(wan_json(view_of(viewing))));
    case CallId::kPolicyCover:
      return json_reply(json_line(policy_cover_json(view_of(viewing))));
    case CallId::kAddresses:
      return json_reply(json_line(addresses_json(view_of(viewing))));
    case CallId::kCertificates:
      return certificates(std::move(viewing));
    default:
      return of_desk(call, std::move(at), std::move(body), {std::move(viewing.viewer), std::move(viewing.visible)});
  }
}

net::Task<Reply> Api::of_agents(const Call& call, std::vector<std::string> at, std::string body, Viewing viewing) {
  switch (call.id) {
    case CallId::kEndpoints:
      return of_fleet(std::move(viewing), [this] { return fleet_.endpoints(); }, visible_endpoints);
    case CallId::kAccessLog:
      return access_log(std::move(viewing), std::move(at[0]));
    case CallId::kTraces:
      return traces(std::move(viewing), std::move(at[0]));
    case CallId::kTrace:
      return of_fleet(std::move(viewing), [this, id = at[0]] { return traces_.trace(id); }, visible_trace);
    case CallId::kAgents:
      return of_fleet(std::move(viewing), [this] { return fleet_.agents(); }, visible_agents);
    case CallId::kAgent:
      return of_fleet(std::move(viewing), [this, name = at[0]] { return fleet_.agent(name); }, visible_agents);
    case CallId::kRange:
      return of_fleet(std::move(viewing), [this, range = at[0]] { return ranges_.read(range); }, nullptr);
    case CallId::kDrain:
    case CallId::kUndrain:
      return of_fleet(
          std::move(viewing),
          [this, name = at[0], drained = call.id == CallId::kDrain] { return fleet_.set_drained(name, drained); },
          nullptr);
    case CallId::kHistory:
      return history(std::move(viewing), at[0]);
    case CallId::kFederation:
      return of_fleet(std::move(viewing), [this] { return federation_.overview(); }, visible_federation);
    case CallId::kFederationConflict:
      return of_fleet(
          std::move(viewing),
          [this, object = FederatedObject{at[0], at[1], at[2]}] { return federation_.conflict(object); },
          visible_federation);
    case CallId::kResolveConflict:
      return resolve(std::move(viewing), std::move(body));
    default:
      return of_desk(call, std::move(at), std::move(body), {std::move(viewing.viewer), std::move(viewing.visible)});
  }
}

net::Task<Reply> Api::of_desk(const Call& call, std::vector<std::string> at, std::string body, Acting acting) {
  switch (call.id) {
    case CallId::kFields:
      return desk_.fields(acting, at[0]);
    case CallId::kEdit:
      return desk_.edit(std::move(acting), std::move(at[0]), std::move(at[1]), std::move(at[2]));
    case CallId::kEditOfCluster:
      return desk_.edit(std::move(acting), std::move(at[0]), {}, std::move(at[1]));
    case CallId::kCheck:
      return desk_.check(std::move(acting), std::move(body));
    case CallId::kDifference:
      return desk_.difference(std::move(acting), std::move(body));
    case CallId::kApply:
      return desk_.apply(std::move(acting), std::move(body));
    case CallId::kDelete:
      return desk_.remove(std::move(acting), std::move(body));
    case CallId::kGivenClaims:
      return desk_.given_claims();
    case CallId::kProve:
      return desk_.prove(std::move(acting), std::move(body));
    case CallId::kAnalysis:
      return desk_.analyse(std::move(acting), std::move(at[0]), std::move(at[1]), std::move(at[2]));
    case CallId::kCompare:
      return desk_.compare(std::move(acting), std::move(body));
    case CallId::kExplainKept:
      return desk_.explain_kept(std::move(acting), std::move(at[0]), std::move(body));
    case CallId::kProgress:
      return desk_.progress(std::move(body));
    case CallId::kRollback:
      return desk_.roll_back(std::move(body));
    case CallId::kRelease:
      return desk_.release(std::move(body));
    default:
      return error_reply(404, "the API has no such call");
  }
}

Reply Api::session(const Viewing& viewing) const {
  OrderedJson kinds = OrderedJson::array();
  const StoreView view = view_of(viewing);
  for (const StoredKind* kind : view.kinds()) kinds.push_back(kind->kind.plural);
  const Identity& identity = viewing.viewer->identity();
  return json_reply(json_line(OrderedJson{{"version", EDGE_VERSION},
                                          {"server", options_.config.cluster.server.origin()},
                                          {"context", options_.config.context},
                                          {"namespace", options_.config.name_space},
                                          {"readOnly", options_.read_only},
                                          {"synced", store_.synced()},
                                          {"fault", store_.fault()},
                                          {"login", viewing.viewer->logged_in()},
                                          {"user", identity.user},
                                          {"groups", identity.groups},
                                          {"ranges", !options_.metrics_url.empty()},
                                          {"may",
                                           {{"seeAgents", viewing.visible->may_see_agents()},
                                            {"changeAgents", viewing.visible->may_change_agents()},
                                            {"kinds", std::move(kinds)}}}}));
}

net::Task<Reply> Api::rights(Viewing viewing, std::string plural, std::string name_space) {
  const StoredKind* kind = view_of(viewing).find(plural);
  if (kind == nullptr) co_return error_reply(404, "no such kind");
  CallWaiter waiter(waiters_);
  OrderedJson rights;
  for (const char* verb : {"create", "update", "delete"}) {
    const Reviewed reviewed = co_await review(
        viewing.viewer->client(), *waiter,
        {.verb = verb, .group = std::string(group_of(kind->kind)), .resource = plural, .name_space = name_space});
    if (!reviewed.fault.empty()) co_return error_reply(503, "the resource API does not say: " + reviewed.fault);
    rights[verb] = reviewed.allowed && !options_.read_only;
  }
  co_return json_reply(json_line(rights));
}

Reply Api::kinds(const Viewing& viewing) const {
  const StoreView view = view_of(viewing);
  OrderedJson list = OrderedJson::array();
  for (const StoredKind* kind : view.kinds()) list.push_back(kind_json(view, *kind));
  return json_reply(json_line(list));
}

Reply Api::problems(const Viewing& viewing) const {
  OrderedJson problems = problems_json(view_of(viewing));
  problems["synced"] = store_.synced();
  return json_reply(json_line(problems));
}

Reply Api::objects(const Viewing& viewing, const std::string& plural) const {
  const StoreView view = view_of(viewing);
  const StoredKind* kind = view.find(plural);
  if (kind == nullptr) return error_reply(404, "no such kind");
  return json_reply(objects_text(view, *kind));
}

net::Task<Reply> Api::object(Viewing viewing, std::string plural, std::string name_space, std::string name) {
  const StoreView view = view_of(viewing);
  const StoredKind* kind = view.find(plural);
  if (kind == nullptr) co_return error_reply(404, "no such kind");
  const std::string key = name_space.empty() ? name : name_space + "/" + name;
  const StoredObject* found = view.find_object(*kind, key);
  if (found == nullptr) co_return error_reply(404, std::string(kind->kind.kind) + " " + key + " does not exist");
  const std::string uid = found->uid;
  OrderedJson reply = object_json(view, *kind, *found);
  CallWaiter waiter(waiters_);
  kube::ListOptions options;
  // What has no namespace has its events in `default`.
  options.name_space = name_space.empty() ? "default" : name_space;
  options.field_selector = "involvedObject.name=" + name + ",involvedObject.kind=" + std::string(kind->kind.kind);
  const kube::Resource events{.group = {}, .version = "v1", .plural = "events", .kind = "Event"};
  const kube::ListReply list = co_await viewing.viewer->client().list(*waiter, events, std::move(options));
  reply["events"] = events_json(list.list.items, uid);
  reply["eventsFault"] = list.ok() ? std::string() : list.failure.text();
  co_return json_reply(json_line(reply));
}

net::Task<Reply> Api::explain(Viewing viewing, std::string body) {
  nlohmann::json asked = read_explain_request(body);
  if (asked.is_null()) co_return error_reply(400, "the body is not an ExplainRequest: see /api/openapi.json");
  CompilerCalls::Outcome done = co_await compiler_.ask("explain", std::move(asked));
  if (!done.json) co_return error_reply(done.json.error());
  co_return json_reply(R"({"explanation":)" + visible_explanation(std::move(*done.json), view_of(viewing)) +
                       R"(,"notes":)" + json_line(nlohmann::json(done.notes)) + "}");
}

net::Task<Reply> Api::of_fleet(Viewing viewing, std::function<Result<std::string>()> ask, Filter filter) {
  Jobs::Outcome said = co_await fleet_jobs_.run(std::move(ask), kFleetTime);
  if (!said.result) co_return error_reply(said.result.error());
  co_return json_reply(filter == nullptr ? std::move(*said.result) : filter(std::move(*said.result), view_of(viewing)));
}

Reply Api::events(const Viewing& viewing) {
  ViewerRules rules;
  if (viewing.viewer->logged_in()) {
    const auto watching = std::make_shared<const std::shared_ptr<Viewer>>(viewing.viewer);
    std::erase_if(watching_, [](const auto& one) { return one.expired(); });
    watching_.push_back(watching);
    rules.shown = [this, watching](std::string_view topic, const std::string& data) {
      const auto visible = Viewers::last_visible(**watching);
      const StoreView view(store_, *visible);
      if (topic == "traffic") return visible_traffic(data, view);
      if (topic != "agents") return std::string("{}");
      return visible->may_see_agents() ? visible_agents(data, view) : error_text("you may not list agents");
    };
    rules.told_of_kind = [this, watching](std::string_view plural) {
      const auto visible = Viewers::last_visible(**watching);
      return plural == "kinds" || StoreView(store_, *visible).find(plural) != nullptr;
    };
    rules.over = [this, session = viewing.session, until = viewing.until] {
      return unix_now() >= until || ended_.contains(session);
    };
  }
  auto stream = hub_.watch(std::move(rules));
  if (stream == nullptr) {
    Reply reply = error_reply(503, "too many viewers");
    reply.fields.emplace_back("Retry-After", "10");
    return reply;
  }
  // The first viewer is not to wait for the next poll.
  if (hub_.viewers() == 1) {
    poll_.wake_later();
    traffic_poll_.wake_later();
  }
  return {.content_type = "text/event-stream", .fields = {{"Cache-Control", "no-store"}}, .stream = std::move(stream)};
}

/// Streams are filtered by what was found last.
net::Task<bool> Api::refresh_watching() {
  const auto watching = watching_;
  for (const auto& one : watching) {
    const auto viewer = one.lock();
    if (viewer == nullptr) continue;
    const FoundVisible found = co_await viewers_.visible(*viewer);
    if (stopping_) co_return false;
  }
  co_return true;
}

/// Asks the controller, which has the agents' last words: agents themselves are not asked.
net::Detached Api::poll_agents() {
  const Jobs::Work ask = [this] { return watched_fleet_.agents(); };
  std::string last;
  while (!stopping_) {
    if (hub_.viewers() > 0) {
      const Jobs::Outcome agents = co_await watch_jobs_.run(ask, kFleetTime);
      std::string said = text_of(agents);
      if (said != last) hub_.publish("agents", said);
      last = std::move(said);
    }
    // Of thousands of agents one has always something to say: the list costs a viewer so many bytes a second at most.
    const net::Duration paced = std::chrono::microseconds(last.size() * 1'000'000 / kMostAgentBytes);
    const net::Time until = loop_.now() + std::clamp<net::Duration>(paced, kPollAgents, kPollTraffic);
    co_await poll_.wait(until);
  }
}

net::Detached Api::poll_traffic() {
  const Jobs::Work ask = [this] { return fleet_.traffic(); };
  for (unsigned polls = 1; !stopping_; ++polls) {
    // Polls without a viewer only keep connections alive.
    if (polls % kPollsPerBeat == 0) hub_.beat();
    compiler_.rest();
    rest();
    if (hub_.viewers() > 0) {
      co_await refresh_watching();
      const Jobs::Outcome traffic = co_await fleet_jobs_.run(ask, kFleetTime);
      hub_.publish("traffic", text_of(traffic));
    }
    const net::Time until = loop_.now() + kPollTraffic;
    co_await traffic_poll_.wait(until);
  }
}

/// Between two polls nothing was asked, and something was asked or has changed since memory was released.
void Api::rest() {
  const bool asked = std::exchange(answered_before_, answered_) != answered_;
  const std::uint64_t done = answered_ + store_.version();
  if (asked || released_ == done || !store_.synced() || loop_.now() < release_after_) return;
  released_ = done;
  release_after_ = loop_.now() + kReleaseEvery;
  release_idle_memory();
}

void Api::changed(std::string_view plural) {
  changed_.emplace(plural);
  if (!std::exchange(publishing_, true)) publish_changes();
}

net::Detached Api::publish_changes() {
  const net::Time until = loop_.now() + kCollect;
  co_await soon_.wait(until);
  publishing_ = false;
  hub_.add_changes(std::exchange(changed_, {}));
}

}  // namespace edge::edgectl::web
