#include "edgectl/web/api/api.h"

#include <array>
#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/web/api/object_reply.h"
#include "edgectl/web/api/replies.h"
#include "edgectl/web/server/guard.h"

namespace edge::edgectl::web {
namespace {

using net::server::Reply;
using net::server::Request;
using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMostWaiting = 16;
constexpr net::Duration kPoll = std::chrono::seconds(2);
/// Polls without a viewer only keep connections alive.
constexpr unsigned kPollsPerBeat = 7;
constexpr net::Duration kCollect = std::chrono::milliseconds(150);
constexpr net::Duration kFleetTime = std::chrono::seconds(25);
constexpr net::Duration kCompileTime = std::chrono::minutes(2);
/// What is not kept may change without notice.
constexpr net::Duration kCompiledFor = std::chrono::seconds(30);
constexpr std::size_t kMostExplainHeaders = 64;

constexpr std::array<std::string_view, 2> kUnkept = {"Secret", "ConfigMap"};

std::string text_of(const Jobs::Outcome& outcome) {
  return outcome.result ? *outcome.result : error_text(outcome.result.error().text);
}

/// nullopt: the body is not one.
std::optional<ExplainRequest> read_explain_request(const std::string& body) {
  const nlohmann::json json = parse_json(body);
  if (!json.is_object() || !member_in(json, "request").is_string()) return std::nullopt;
  ExplainRequest asked{.request = text_in(json, "request")};
  for (const nlohmann::json& header : list_in(json, "headers")) {
    if (!header.is_string() || asked.headers.size() == kMostExplainHeaders) return std::nullopt;
    asked.headers.push_back(text_value(header));
  }
  if (const std::string& source = text_in(json, "source"); !source.empty()) asked.source = source;
  const std::int64_t port = integer_in(json, "port");
  if (port < 0 || port > 65535) return std::nullopt;
  asked.port = static_cast<std::uint16_t>(port);
  return asked;
}

}  // namespace

/// A waiter of one call, which ends when the server stops.
class Api::Waiting {
 public:
  explicit Waiting(Api& api) : api_(api), waiter_(api.loop_) {
    if (api.stopping_) waiter_.cancel();
    api_.calls_.insert(&waiter_);
  }
  ~Waiting() { api_.calls_.erase(&waiter_); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  net::Waiter& waiter() { return waiter_; }

 private:
  Api& api_;
  net::Waiter waiter_;
};

Result<std::unique_ptr<Api>> Api::make(net::Loop& loop, ApiOptions options) {
  auto client = kube::Client::make(loop, options.config, {.user_agent = "edgectl/" EDGE_VERSION});
  if (!client) return client.error();
  return std::unique_ptr<Api>(new Api(loop, std::move(options), std::move(*client)));
}

Api::Api(net::Loop& loop, ApiOptions options, std::unique_ptr<kube::Client> client)
    : loop_(loop),
      options_(std::move(options)),
      client_(std::move(client)),
      store_(*client_, [this](std::string_view plural) { changed(plural); }),
      fleet_(options_.arguments),
      explainer_(options_.controller_class),
      fleet_jobs_(loop, kMostWaiting),
      compile_jobs_(loop, kMostWaiting),
      poll_(loop),
      soon_(loop) {}

Api::~Api() = default;

void Api::start() {
  store_.start();
  poll_agents();
}

void Api::stop() {
  stopping_ = true;
  store_.stop();
  hub_.close();
  fleet_jobs_.close();
  compile_jobs_.close();
  poll_.cancel();
  soon_.cancel();
  // A waiter that is cancelled may end its call.
  const std::vector<net::Waiter*> calls(calls_.begin(), calls_.end());
  for (net::Waiter* call : calls) {
    if (calls_.contains(call)) call->cancel();
  }
}

net::Task<Reply> Api::answer(const Request& request) {
  if (const auto foreign = foreign_call(request)) return error_reply(403, *foreign);
  FoundCall found = find_call(request.method, request.path);
  if (found.allow.empty()) return error_reply(404, "the API has no such call: see /api/openapi.json");
  if (found.call == nullptr) {
    Reply reply = error_reply(405, "only " + found.allow);
    reply.fields.emplace_back("Allow", found.allow);
    return reply;
  }
  const Call& call = *found.call;
  if (call.changes && options_.read_only) return error_reply(403, "this server is read-only (--read-only)");
  if (call.method != "GET" && !request.field("content-type").starts_with("application/json")) {
    return error_reply(415, "the body is to be application/json");
  }
  std::vector<std::string>& at = found.parameters;
  switch (call.id) {
    case CallId::kSession:
      return session();
    case CallId::kOpenApi:
      return json_reply(openapi_json());
    case CallId::kEvents:
      return events();
    case CallId::kKinds:
      return kinds();
    case CallId::kProblems:
      return problems();
    case CallId::kObjects:
      return objects(at[0]);
    case CallId::kObject:
      return object(std::move(at[0]), std::move(at[1]), std::move(at[2]));
    case CallId::kObjectOfCluster:
      return object(std::move(at[0]), {}, std::move(at[1]));
    case CallId::kExplain:
      return explain(request.body);
    case CallId::kAgents:
      return of_fleet([this] { return fleet_.agents(); });
    case CallId::kAgent:
      return of_fleet([this, name = at[0]] { return fleet_.agent(name); });
    case CallId::kDrain:
    case CallId::kUndrain:
      return of_fleet(
          [this, name = at[0], drained = call.id == CallId::kDrain] { return fleet_.set_drained(name, drained); });
    case CallId::kTraffic:
      return of_fleet([this] { return fleet_.traffic(); });
    case CallId::kHistory:
      break;
  }
  return of_fleet([this] { return fleet_.history(); });
}

Reply Api::session() const {
  return json_reply(json_line(OrderedJson{{"version", EDGE_VERSION},
                                          {"server", options_.config.cluster.server.origin()},
                                          {"context", options_.config.context},
                                          {"namespace", options_.config.name_space},
                                          {"readOnly", options_.read_only},
                                          {"synced", store_.synced()},
                                          {"fault", store_.fault()}}));
}

Reply Api::kinds() const {
  OrderedJson list = OrderedJson::array();
  for (const auto& kind : store_.kinds()) list.push_back(kind_json(*kind));
  return json_reply(json_line(list));
}

Reply Api::problems() const { return json_reply(json_line(problems_json(store_))); }

Reply Api::objects(const std::string& plural) const {
  const StoredKind* kind = store_.find(plural);
  if (kind == nullptr) return error_reply(404, "no such kind");
  return json_reply(json_line(objects_json(*kind)));
}

net::Task<Reply> Api::object(std::string plural, std::string name_space, std::string name) {
  const StoredKind* kind = store_.find(plural);
  if (kind == nullptr) co_return error_reply(404, "no such kind");
  const std::string key = name_space.empty() ? name : name_space + "/" + name;
  const auto found = kind->objects.find(key);
  if (found == kind->objects.end())
    co_return error_reply(404, std::string(kind->kind.kind) + " " + key + " does not exist");
  const std::string uid = found->second.uid;
  OrderedJson reply = object_json(store_, *kind, found->second);
  Waiting waiting(*this);
  kube::ListOptions options;
  // What has no namespace has its events in `default`.
  options.name_space = name_space.empty() ? "default" : name_space;
  options.field_selector = "involvedObject.name=" + name + ",involvedObject.kind=" + std::string(kind->kind.kind);
  const kube::Resource events{.group = {}, .version = "v1", .plural = "events", .kind = "Event"};
  const kube::ListReply list = co_await client_->list(waiting.waiter(), events, std::move(options));
  reply["events"] = events_json(list.list.items, uid);
  reply["eventsFault"] = list.ok() ? std::string() : list.failure.text();
  co_return json_reply(json_line(reply));
}

net::Task<bool> Api::add_unkept(std::shared_ptr<SourceMap> sources, std::shared_ptr<std::vector<std::string>> notes) {
  for (const std::string_view name : kUnkept) {
    const schemas::Kind* kind = schemas::find_kind(name);
    Waiting waiting(*this);
    kube::ListOptions options;
    options.reading = {.api_version = std::string(kind->api_version), .kind = std::string(kind->kind)};
    kube::Resource resource{
        .group = {}, .version = "v1", .plural = std::string(kind->plural), .kind = std::string(kind->kind)};
    const kube::ListReply list = co_await client_->list_all(waiting.waiter(), std::move(resource), std::move(options));
    if (!list.ok()) {
      notes->push_back(std::string(kind->plural) +
                       " cannot be read, so what names them takes no part: " + list.failure.text());
      continue;
    }
    std::string text;
    for (const kube::Object& object : list.list.items) text += (text.empty() ? "" : ",\n") + object.text;
    if (text.empty()) continue;
    sources->add("cluster: " + std::string(kind->plural),
                 R"({"apiVersion":"v1","kind":"List","items":[)" + text + "]}\n");
  }
  co_return true;
}

net::Task<Reply> Api::explain(std::string body) {
  const auto asked = read_explain_request(body);
  if (!asked) co_return error_reply(400, "the body is not an ExplainRequest: see /api/openapi.json");
  if (!store_.synced()) {
    const std::string why = store_.fault().empty() ? "it is still being read" : store_.fault();
    co_return error_reply(503, "the configuration is not known: " + why);
  }
  const std::uint64_t version = store_.version();
  std::shared_ptr<SourceMap> sources;
  const auto notes = std::make_shared<std::vector<std::string>>(compiled_notes_);
  if (compiled_version_ != version || loop_.now() >= compiled_until_) {
    sources = std::make_shared<SourceMap>();
    store_.add_sources(*sources);
    notes->clear();
    co_await add_unkept(sources, notes);
  }
  const auto work = [this, sources, asked = *asked]() -> Result<std::string> {
    if (sources != nullptr || !explainer_.compiled()) {
      if (sources == nullptr) return Error{ErrorCode::kAborted, "the configuration was changed meanwhile: try again"};
      if (Status status = explainer_.compile(*sources); !status) return status.error();
    }
    return explainer_.explain(asked);
  };
  const Jobs::Outcome outcome = co_await compile_jobs_.run(work, kCompileTime);
  const Result<std::string>& done = outcome.result;
  const bool compiled = sources != nullptr && (done.ok() || done.error().code == ErrorCode::kInvalidArgument);
  if (compiled) {
    compiled_version_ = version;
    compiled_until_ = loop_.now() + kCompiledFor;
    compiled_notes_ = *notes;
  } else if (!done.ok() && done.error().code != ErrorCode::kInvalidArgument) {
    compiled_version_.reset();
  }
  if (!done) co_return error_reply(done.error());
  co_return json_reply(R"({"explanation":)" + *done + R"(,"notes":)" + json_line(nlohmann::json(*notes)) + "}");
}

net::Task<Reply> Api::of_fleet(std::function<Result<std::string>()> ask) {
  const Jobs::Outcome said = co_await fleet_jobs_.run(std::move(ask), kFleetTime);
  co_return said.result ? json_reply(*said.result) : error_reply(said.result.error());
}

Reply Api::events() {
  auto stream = hub_.watch();
  if (stream == nullptr) {
    Reply reply = error_reply(503, "too many viewers");
    reply.fields.emplace_back("Retry-After", "10");
    return reply;
  }
  // The first viewer is not to wait for the next poll.
  if (hub_.viewers() == 1) poll_.wake_later();
  return {.content_type = "text/event-stream", .fields = {{"Cache-Control", "no-store"}}, .stream = std::move(stream)};
}

net::Detached Api::poll_agents() {
  const Jobs::Work ask_traffic = [this] { return fleet_.traffic(); };
  const Jobs::Work ask_agents = [this] { return fleet_.agents(); };
  for (unsigned polls = 1; !stopping_; ++polls) {
    if (polls % kPollsPerBeat == 0) hub_.beat();
    if (hub_.viewers() > 0) {
      const Jobs::Outcome traffic = co_await fleet_jobs_.run(ask_traffic, kFleetTime);
      hub_.publish("traffic", text_of(traffic));
      const Jobs::Outcome agents = co_await fleet_jobs_.run(ask_agents, kFleetTime);
      hub_.publish("agents", text_of(agents));
    }
    const net::Time until = loop_.now() + kPoll;
    co_await poll_.wait(until);
  }
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
