#include "edgectl/web/api/desk.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "edgectl/resources/output.h"
#include "edgectl/web/access/reply_filter.h"
#include "edgectl/web/api/explain_request.h"
#include "edgectl/web/api/field_tables.h"
#include "edgectl/web/api/replies.h"

namespace edge::edgectl::web {
namespace {

using net::server::Reply;
using nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr net::Duration kProgramTime = std::chrono::seconds(25);
constexpr std::size_t kMostClaims = 100;
constexpr std::size_t kLongestClaim = 4096;
constexpr std::size_t kHashDigits = 64;
constexpr std::array<std::string_view, 4> kOwnMetadata = {"name", "namespace", "labels", "annotations"};

Reply no_body(const char* schema) {
  return error_reply(400, "the body is not a " + std::string(schema) + ": see /api/openapi.json");
}

bool is_hash(const std::string& text) {
  return text.size() == kHashDigits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

constexpr const char* kTooManyClaims = "too many claims, or too long ones";

/// `live`, or the hash of a program. nullopt: neither. `group`: what is live is what its agents are given; empty: all.
std::optional<json> side_json(const std::string& side, const std::string& group = {}) {
  if (group.size() > kLongestGroup) return std::nullopt;
  if (side == "live") return group.empty() ? json::object() : json{{"group", group}};
  if (is_hash(side)) return json{{"program", side}};
  return std::nullopt;
}

/// Adds what takes no part to an object in JSON that has members.
std::string with_notes(std::string object, const std::vector<std::string>& notes) {
  return object.insert(1, R"("notes":)" + json_line(json(notes)) + ",");
}

/// Whether a new object would take the name of another.
bool exists(const StoreView& view, const EditTarget& target, const Draft& draft) {
  if (!target.name.empty() || !draft.ok()) return false;
  const std::string key = draft.name_space().empty() ? draft.name() : draft.name_space() + "/" + draft.name();
  return view.find_object(*target.kind, key) != nullptr;
}

OrderedJson faults_json(const Draft& draft) {
  OrderedJson list = OrderedJson::array();
  for (const DraftFault& fault : draft.faults()) {
    list.push_back({{"code", ""},
                    {"severity", "error"},
                    {"message", fault.message},
                    {"resource", ""},
                    {"field", ""},
                    {"notes", OrderedJson::array()},
                    {"fix", ""},
                    {"from", fault.begin},
                    {"to", fault.end}});
  }
  return list;
}

/// As the compiler's `check`, of a draft that is not compiled.
OrderedJson unread_json(const Draft& draft) {
  return {{"notes", OrderedJson::array()},
          {"diagnostics", faults_json(draft)},
          {"errors", draft.faults().size()},
          {"brought", OrderedJson::array()},
          {"solved", OrderedJson::array()}};
}

/// Moves the positions of diagnostics from the text that was compiled to the draft's.
void move_positions(OrderedJson& reply, const Draft& draft) {
  const auto found = reply.find("diagnostics");
  if (found == reply.end()) return;
  for (OrderedJson& one : *found) {
    for (const char* end : {"from", "to"}) {
      if (one[end].is_number_unsigned()) one[end] = draft.position(one[end].get<std::uint32_t>());
    }
  }
}

json draft_json(const EditTarget& target, const Draft* draft) {
  const std::string name = draft == nullptr ? target.name : draft->name();
  const std::string space = draft == nullptr ? target.name_space : draft->name_space();
  const std::string key = space.empty() ? name : space + "/" + name;
  json side = {{"plural", target.kind->kind.plural},
               {"key", key},
               {"resource", std::string(target.kind->kind.kind) + " " + key}};
  if (draft != nullptr) side["text"] = draft->text();
  return side;
}

}  // namespace

void check_identity(Draft& draft, const EditTarget& target, bool exists) {
  if (!draft.ok()) return;
  const std::string kind(target.kind->kind.kind);
  if (draft.kind() != kind) return draft.refuse("kind", "this is a " + kind);
  const std::string& version = text_in(draft.object(), "apiVersion");
  const std::string served = target.kind->resource.api_version();
  if (version != served) draft.refuse("apiVersion", "the cluster serves " + kind + " as `" + served + "`");
  if (draft.name().empty()) draft.refuse("metadata", "`metadata.name` is missing");
  if (target.kind->resource.namespaced && draft.name_space().empty()) {
    draft.refuse("metadata", "`metadata.namespace` is missing");
  }
  if (!target.name.empty() && (draft.name() != target.name || draft.name_space() != target.name_space)) {
    draft.refuse("metadata.name", "name and namespace of an object cannot be changed: create another one");
  }
  if (target.name.empty() && exists) draft.refuse("metadata.name", "an object of this name exists: edit that");
  for (const auto& [field, value] : member_in(draft.object(), "metadata").items()) {
    if (std::ranges::find(kOwnMetadata, field) == kOwnMetadata.end()) {
      draft.refuse("metadata", "`metadata." + field + "` cannot be changed here");
    }
  }
  if (draft.object().contains("status")) draft.refuse("", "the status is the controller's: leave it out");
}

std::optional<EditTarget> Desk::target_of(const Acting& acting, const json& body, Reply& refused) const {
  EditTarget target{.kind = view_of(acting).find(text_in(body, "plural")),
                    .name_space = text_in(body, "namespace"),
                    .name = text_in(body, "name"),
                    .yaml = text_in(body, "yaml"),
                    .version = text_in(body, "version")};
  if (target.kind == nullptr || !target.kind->served) {
    refused = error_reply(404, "no such kind");
    return std::nullopt;
  }
  return target;
}

std::optional<json> Desk::claims_of(const json& body) const {
  json claims = claims_;
  for (const json& one : list_in(body, "claims")) {
    const std::string& text = text_value(one);
    if (text.empty() || text.size() > kLongestClaim) return std::nullopt;
    if (std::ranges::find(claims, one) == claims.end()) claims.push_back(one);
  }
  if (claims.size() > kMostClaims) return std::nullopt;
  return claims;
}

json Desk::stored(const Acting& acting, const EditTarget& target) const {
  const StoredObject* found = target.name.empty() ? nullptr : view_of(acting).find_object(*target.kind, target.key());
  return found == nullptr ? json() : parsed_json(found->text);
}

Reply Desk::fields(const Acting& acting, const std::string& plural) const {
  const StoredKind* kind = view_of(acting).find(plural);
  if (kind == nullptr) return error_reply(404, "no such kind");
  OrderedJson tables = field_tables_json(kind->kind);
  tables["apiVersion"] = kind->served ? kind->resource.api_version() : std::string(kind->kind.api_version);
  tables["namespaced"] = !kind->served || kind->resource.namespaced;
  return json_reply(json_line(tables));
}

Reply Desk::given_claims() const { return json_reply(json_line(OrderedJson{{"claims", claims_}})); }

net::Task<Desk::Live> Desk::read_live(Acting acting, EditTarget target) {
  CallWaiter waiter(parts_.waiters);
  const kube::ObjectReply reply =
      co_await acting.viewer->client().get(*waiter, target.kind->resource, target.name_space, target.name);
  if (!reply.ok()) co_return Live{.failure = reply.failure};
  co_return Live{.object = parsed_json(reply.object.text), .resource_version = reply.object.resource_version};
}

net::Task<Reply> Desk::edit(Acting acting, std::string plural, std::string name_space, std::string name) {
  Reply refused;
  const auto target = target_of(acting, json{{"plural", plural}, {"namespace", name_space}, {"name", name}}, refused);
  if (!target) co_return refused;
  const Live live = co_await read_live(acting, *target);
  if (!live.failure.none()) co_return failure_reply(live.failure);
  std::string yaml = draft_yaml(live.object);
  co_return json_reply(json_line(OrderedJson{{"kind", target->kind->kind.kind},
                                             {"plural", plural},
                                             {"namespace", name_space},
                                             {"name", name},
                                             {"version", version_of(live.object)},
                                             {"yaml", std::move(yaml)}}));
}

net::Task<Reply> Desk::ask_compiler(Acting acting, std::string call, json parameters,
                                    std::shared_ptr<const Draft> draft) {
  const CompilerCalls::Outcome outcome = co_await parts_.compiler.ask(std::move(call), std::move(parameters));
  if (!outcome.json) co_return error_reply(outcome.json.error());
  std::string text = with_notes(visible_difference(*outcome.json, view_of(acting)), outcome.notes);
  if (draft == nullptr) co_return json_reply(std::move(text));
  OrderedJson reply = parse_ordered_json(draft->hide(std::move(text)));
  move_positions(reply, *draft);
  co_return json_reply(json_line(reply));
}

net::Task<Reply> Desk::check(Acting acting, std::string body) {
  Reply refused;
  const auto target = target_of(acting, parse_json(body), refused);
  if (!target) co_return refused;
  const json live = stored(acting, *target);
  const auto draft = std::make_shared<Draft>(target->yaml, live.is_null() ? nullptr : &live);
  check_identity(*draft, *target, exists(view_of(acting), *target, *draft));
  if (!draft->ok()) co_return json_reply(json_line(unread_json(*draft)));
  Reply reply =
      co_await ask_compiler(std::move(acting), "check", json{{"draft", draft_json(*target, draft.get())}}, draft);
  co_return reply;
}

net::Task<Reply> Desk::difference(Acting acting, std::string body) {
  const json asked = parse_json(body);
  Reply refused;
  const auto target = target_of(acting, asked, refused);
  if (!target) co_return refused;
  const auto claims = claims_of(asked);
  if (!claims) co_return error_reply(400, kTooManyClaims);
  const json live = stored(acting, *target);
  std::shared_ptr<Draft> draft;
  if (member_in(asked, "remove") != true) {
    draft = std::make_shared<Draft>(target->yaml, live.is_null() ? nullptr : &live);
    check_identity(*draft, *target, exists(view_of(acting), *target, *draft));
    if (!draft->ok()) co_return error_reply(400, draft->faults().front().message);
  } else if (live.is_null()) {
    co_return error_reply(404, target->title() + " does not exist");
  }
  json parameters = {
      {"before", json::object()}, {"after", {{"draft", draft_json(*target, draft.get())}}}, {"claims", *claims}};
  Reply reply = co_await ask_compiler(std::move(acting), "compare", std::move(parameters), draft);
  co_return reply;
}

net::Task<Reply> Desk::analyse(Acting acting, std::string plural, std::string name_space, std::string name) {
  const StoreView view = view_of(acting);
  const StoredKind* kind = view.find(plural);
  const std::string key = name_space.empty() ? name : name_space + "/" + name;
  if (kind == nullptr || view.find_object(*kind, key) == nullptr) co_return error_reply(404, key + " does not exist");
  json parameters = {{"kind", kind->kind.kind}, {"name", key}};
  Reply reply = co_await ask_compiler(std::move(acting), "analyse", std::move(parameters), nullptr);
  co_return reply;
}

net::Task<CompilerCalls::Outcome> Desk::ask_with_programs(std::string call, json parameters,
                                                          std::vector<std::string> sides) {
  // The compiler's process keeps the latest programs: bytes are sent where it asks for them.
  CompilerCalls::Outcome outcome = co_await parts_.compiler.ask(call, parameters);
  if (outcome.json || outcome.json.error().code != ErrorCode::kDataLoss) co_return outcome;
  for (const std::string& side : sides) {
    if (!parameters[side].contains("program")) continue;
    const Jobs::Work fetch = [this, hash = text_in(parameters[side], "program")] { return parts_.fleet.program(hash); };
    const Jobs::Outcome got = co_await parts_.fleet_jobs.run(fetch, kProgramTime);
    if (!got.result) co_return CompilerCalls::Outcome{.json = got.result.error()};
    parameters[side]["bytes"] = to_base64(*got.result);
  }
  outcome = co_await parts_.compiler.ask(std::move(call), std::move(parameters));
  co_return outcome;
}

net::Task<Reply> Desk::compare(Acting acting, std::string body) {
  const json asked = parse_json(body);
  const auto before = side_json(text_in(asked, "before"), text_in(asked, "group"));
  const auto after = side_json(text_in(asked, "after"), text_in(asked, "group"));
  if (!before || !after) co_return no_body("CompareRequest");
  const auto claims = claims_of(asked);
  if (!claims) co_return error_reply(400, kTooManyClaims);
  json parameters = {{"before", *before}, {"after", *after}, {"claims", *claims}};
  const CompilerCalls::Outcome outcome =
      co_await ask_with_programs("compare", std::move(parameters), {"before", "after"});
  if (!outcome.json) co_return error_reply(outcome.json.error());
  co_return json_reply(with_notes(visible_difference(*outcome.json, view_of(acting)), outcome.notes));
}

net::Task<Reply> Desk::prove(Acting acting, std::string body) {
  const json asked = parse_json(body);
  const std::string& program = text_in(asked, "program");
  const auto side = side_json(program.empty() ? "live" : program);
  if (!side || !asked.is_object()) co_return no_body("ClaimsRequest");
  if (!program.empty() && !acting.visible->may_see_agents()) co_return error_reply(403, "you may not see the history");
  const auto claims = claims_of(asked);
  if (!claims) co_return error_reply(400, kTooManyClaims);
  json parameters = {{"side", *side}, {"claims", *claims}};
  const CompilerCalls::Outcome outcome = co_await ask_with_programs("prove", std::move(parameters), {"side"});
  if (!outcome.json) co_return error_reply(outcome.json.error());
  co_return json_reply(with_notes(visible_difference(*outcome.json, view_of(acting)), outcome.notes));
}

net::Task<Reply> Desk::explain_kept(Acting acting, std::string program, std::string body) {
  json parameters = read_explain_request(body);
  const auto side = side_json(program);
  if (parameters.is_null() || !side) co_return no_body("ExplainRequest");
  parameters["side"] = *side;
  const CompilerCalls::Outcome outcome = co_await ask_with_programs("try", std::move(parameters), {"side"});
  if (!outcome.json) co_return error_reply(outcome.json.error());
  const std::string explanation = visible_explanation(*outcome.json, view_of(acting));
  co_return json_reply(R"({"explanation":)" + explanation + R"(,"notes":)" + json_line(json(outcome.notes)) + "}");
}

}  // namespace edge::edgectl::web
