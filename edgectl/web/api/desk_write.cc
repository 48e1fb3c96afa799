// What changes something: applying a draft, deleting an object, and the agents' progress with it; rolling back.
#include <chrono>
#include <utility>

#include "base/text/json.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/write/merge.h"
#include "edgectl/web/api/desk.h"
#include "edgectl/web/api/replies.h"
#include "edgectl/web/api/views/progress_json.h"

namespace edge::edgectl::web {
namespace {

using net::server::Reply;
using nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

constexpr net::Duration kAgentsTime = std::chrono::seconds(25);
/// Statuses are written all the time; whoever is always quicker than we are does something else.
constexpr int kMostTries = 5;
constexpr const char* kWebManager = "edgectl-web";

Reply conflict_reply(const EditTarget& target, const json& live) {
  OrderedJson body = {{"error", target.title() + " was changed by somebody else since you opened it"},
                      {"conflict", true}};
  body["yaml"] = draft_yaml(live);
  body["version"] = version_of(live);
  Reply reply = json_reply(json_line(body));
  reply.status = 409;
  return reply;
}

Reply gone_reply(const EditTarget& target) {
  return error_reply(409, target.title() + " does not exist any more: somebody else has deleted it");
}

Reply done_reply(const char* done, OrderedJson object, const std::vector<std::string>& warnings) {
  return json_reply(json_line(OrderedJson{{"done", done}, {"object", std::move(object)}, {"warnings", warnings}}));
}

/// An object without its text, as it is known to be.
kube::Object named(const EditTarget& target, const json& live, const std::string& resource_version) {
  kube::Object object;
  object.name = target.name;
  object.name_space = target.name_space;
  object.uid = text_in(member_in(live, "metadata"), "uid");
  object.resource_version = resource_version;
  return object;
}

kube::WriteOptions write_options() { return {.field_manager = kWebManager, .field_validation = "Strict"}; }

}  // namespace

OrderedJson written_json(const EditTarget& target, const kube::Object& object, bool gone) {
  return {{"kind", target.kind->kind.kind},
          {"plural", target.kind->kind.plural},
          {"namespace", object.name_space},
          {"name", object.name},
          {"uid", object.uid},
          {"version", object.resource_version},
          {"gone", gone}};
}

Reply failure_reply(const kube::Failure& failure) {
  std::string text = failure.text();
  const int status = failure.kind == kube::Failure::Kind::kRefused && failure.http >= 400 ? failure.http : 503;
  // Credentials of the server are at fault, not of whoever looks.
  return error_reply(status == 401 ? 503 : status, text);
}

net::Task<Reply> Desk::apply(Acting acting, std::string body) {
  Reply refused;
  const auto target = target_of(acting, parse_json(body), refused);
  if (!target) co_return refused;
  for (int tries = 0; tries < kMostTries; ++tries) {
    Live live;
    if (!target->name.empty()) {
      live = co_await read_live(acting, *target);
      if (live.failure.not_found()) co_return gone_reply(*target);
      if (!live.failure.none()) co_return failure_reply(live.failure);
      if (version_of(live.object) != target->version) co_return conflict_reply(*target, live.object);
    }
    Written written = co_await write(acting, *target, std::move(live));
    if (!written.again) co_return std::move(written.reply);
  }
  co_return error_reply(409, target->title() + " is being changed all the time: try again");
}

net::Task<Desk::Written> Desk::write(Acting acting, EditTarget target, Live live) {
  const bool is_new = target.name.empty();
  Draft draft(target.yaml, is_new ? nullptr : &live.object);
  check_identity(draft, target, false);
  if (!draft.ok()) co_return Written{.reply = error_reply(400, draft.faults().front().message)};
  CallWaiter waiter(parts_.waiters);
  kube::ObjectReply done;
  if (is_new) {
    done = co_await acting.viewer->client().create(*waiter, target.kind->resource, draft.name_space(),
                                                   json_line(draft.object()), write_options());
  } else {
    json patch = merge_patch_between(editable(live.object), draft.object());
    if (patch.empty()) {
      const kube::Object same = named(target, live.object, live.resource_version);
      co_return Written{.reply = done_reply("unchanged", written_json(target, same, false), {})};
    }
    patch["metadata"]["resourceVersion"] = live.resource_version;
    done = co_await acting.viewer->client().patch(*waiter, target.kind->resource, target.name_space, target.name,
                                                  kube::PatchType::kMerge, json_line(patch), write_options());
    if (done.failure.conflict()) co_return Written{.again = true};
    if (done.failure.not_found()) co_return Written{.reply = gone_reply(target)};
  }
  if (!done.ok()) co_return Written{.reply = failure_reply(done.failure)};
  co_return Written{
      .reply = done_reply(is_new ? "created" : "configured", written_json(target, done.object, false), done.warnings)};
}

net::Task<Reply> Desk::remove(Acting acting, std::string body) {
  Reply refused;
  const auto target = target_of(acting, parse_json(body), refused);
  if (!target) co_return refused;
  if (target->name.empty()) co_return error_reply(400, "the name is missing");
  for (int tries = 0; tries < kMostTries; ++tries) {
    Live live = co_await read_live(acting, *target);
    if (live.failure.not_found()) co_return gone_reply(*target);
    if (!live.failure.none()) co_return failure_reply(live.failure);
    if (version_of(live.object) != target->version) co_return conflict_reply(*target, live.object);
    Written written = co_await erase(acting, *target, std::move(live));
    if (!written.again) co_return std::move(written.reply);
  }
  co_return error_reply(409, target->title() + " is being changed all the time: try again");
}

net::Task<Desk::Written> Desk::erase(Acting acting, EditTarget target, Live live) {
  CallWaiter waiter(parts_.waiters);
  const std::string uid = text_in(member_in(live.object, "metadata"), "uid");
  kube::DeleteOptions options{.propagation = "Background", .uid = uid, .resource_version = live.resource_version};
  const kube::Reply done = co_await acting.viewer->client().remove(*waiter, target.kind->resource, target.name_space,
                                                                   target.name, std::move(options));
  if (done.failure.conflict()) co_return Written{.again = true};
  if (done.failure.not_found()) co_return Written{.reply = gone_reply(target)};
  if (!done.ok()) co_return Written{.reply = failure_reply(done.failure)};
  const kube::Object gone = named(target, live.object, live.resource_version);
  co_return Written{.reply = done_reply("deleted", written_json(target, gone, true), {})};
}

net::Task<Reply> Desk::of_fleet(Jobs::Work work) {
  const Jobs::Outcome said = co_await parts_.fleet_jobs.run(std::move(work), kAgentsTime);
  if (!said.result) co_return error_reply(said.result.error());
  co_return json_reply(*said.result);
}

net::Task<Reply> Desk::progress(std::string body) {
  const auto asked = read_progress_request(body);
  if (!asked) co_return error_reply(400, "the body is not a ProgressRequest: see /api/openapi.json");
  const Jobs::Work work = [this, objects = *asked] { return parts_.fleet.progress(objects); };
  Reply reply = co_await of_fleet(work);
  co_return reply;
}

net::Task<Reply> Desk::roll_back(std::string body) {
  const json asked = parse_json(body);
  const std::string program = text_in(asked, "program");
  const std::string group = text_in(asked, "group");
  if (program.empty()) co_return error_reply(400, "the body is not a RollbackRequest: see /api/openapi.json");
  const Jobs::Work work = [this, group, program] { return parts_.fleet.roll_back(group, program); };
  Reply reply = co_await of_fleet(work);
  co_return reply;
}

net::Task<Reply> Desk::release(std::string body) {
  const std::string group = text_in(parse_json(body), "group");
  const Jobs::Work work = [this, group] { return parts_.fleet.release(group); };
  Reply reply = co_await of_fleet(work);
  co_return reply;
}

}  // namespace edge::edgectl::web
