#include "edgectl/web/api/views/federation.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/agents/federation_pages.h"
#include "edgectl/agents/redact.h"
#include "edgectl/resources/agents.h"
#include "edgectl/web/access/reviews.h"
#include "edgectl/web/api/api.h"
#include "edgectl/web/api/replies.h"

namespace edge::edgectl::web {
namespace {

using nlohmann::json;

PageParameters parameters_of(const FederatedObject& object) {
  return {{"kind", object.kind}, {"namespace", object.name_space}, {"name", object.name}};
}

void redact_version(json& version) {
  if (version.is_object() && version.contains("content") && version["content"].is_object()) redact(version["content"]);
}

bool may_see_conflict(const StoreView& view, const json& conflict) {
  const schemas::Kind* const kind = schemas::find_kind(text_in(conflict, "kind"));
  return kind != nullptr && view.visible().may_list(*kind, text_in(conflict, "namespace"));
}

}  // namespace

Result<controller::InspectClient*> Federation::controller() {
  if (controller_ == nullptr) {
    auto opened = find_controller(arguments_);
    if (!opened) return opened.error();
    controller_ = std::move(*opened);
  }
  return controller_.get();
}

Error Federation::forgotten(Error error) {
  if (error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kDeadlineExceeded) controller_.reset();
  return error;
}

Result<std::string> Federation::overview() {
  const auto asked = controller();
  if (!asked) return asked.error();
  auto status = ask_federation(**asked, "GET", "status", {});
  if (!status && status.error().code == ErrorCode::kFailedPrecondition) {
    return json_line(json{{"none", status.error().text}, {"peers", json::array()}, {"items", json::array()}});
  }
  if (!status) return forgotten(status.error());
  auto peers = ask_federation_list(**asked, "peers", {});
  if (!peers) return forgotten(peers.error());
  auto conflicts = ask_federation(**asked, "GET", "conflicts", {});
  if (!conflicts) return forgotten(conflicts.error());
  return json_line(json{{"none", ""},
                        {"status", std::move(*status)},
                        {"peers", std::move(*peers)},
                        {"items", list_in(*conflicts, "items")},
                        {"more", !text_in(*conflicts, "next").empty()}});
}

Result<std::string> Federation::conflict(const FederatedObject& object) {
  const auto asked = controller();
  if (!asked) return asked.error();
  PageParameters parameters = parameters_of(object);
  parameters.emplace_back("contents", "1");
  auto found = ask_federation(**asked, "GET", "conflicts", parameters);
  if (!found) return forgotten(found.error());
  json items = list_in(*found, "items");
  if (items.empty()) return Error{ErrorCode::kNotFound, "there is no conflict about it any more"};
  for (json& item : items) {
    redact_version(item["winner"]);
    if (!item["losers"].is_array()) continue;
    for (json& loser : item["losers"]) redact_version(loser);
  }
  return json_line(json{{"items", std::move(items)}});
}

Result<std::string> Federation::resolve(const FederatedObject& object, const std::string& keep, const std::string& by) {
  const auto asked = controller();
  if (!asked) return asked.error();
  PageParameters parameters = parameters_of(object);
  parameters.emplace_back("keep", keep);
  parameters.emplace_back("by", by);
  const auto done = ask_federation(**asked, "POST", "resolve", parameters);
  if (!done) return forgotten(done.error());
  return json_line(*done);
}

std::string visible_federation(std::string text, const StoreView& view) {
  if (view.visible().everything()) return text;
  json reply = parse_json(text);
  json kept = json::array();
  for (const json& item : list_in(reply, "items")) {
    if (may_see_conflict(view, item)) kept.push_back(item);
  }
  reply["hidden"] = list_in(reply, "items").size() - kept.size();
  reply["items"] = std::move(kept);
  return json_line(reply);
}

/// The controller writes with its own rights: whoever asks needs that of changing the object.
net::Task<net::server::Reply> Api::resolve(Viewing viewing, std::string body) {
  const json asked = parse_json(body);
  const FederatedObject object{text_in(asked, "kind"), text_in(asked, "namespace"), text_in(asked, "name")};
  const std::string keep = text_in(asked, "keep");
  if (object.kind.empty() || object.name.empty() || keep.empty()) {
    co_return error_reply(400, "the body is not a ResolveRequest: see /api/openapi.json");
  }
  const schemas::Kind* const kind = schemas::find_kind(object.kind);
  if (kind == nullptr) co_return error_reply(400, object.kind + " is none of the kinds here: edgectl resolves it");
  CallWaiter waiter(waiters_);
  const Reviewed reviewed = co_await review(viewing.viewer->client(), *waiter,
                                            {.verb = "update",
                                             .group = std::string(group_of(*kind)),
                                             .resource = std::string(kind->plural),
                                             .name_space = object.name_space,
                                             .name = object.name});
  if (!reviewed.fault.empty()) co_return error_reply(503, "the resource API does not say: " + reviewed.fault);
  if (!reviewed.allowed) {
    co_return error_reply(403, "you may not update " + object.kind + " " + object.name_space + "/" + object.name);
  }
  const std::string by = viewing.viewer->identity().user;
  std::function<Result<std::string>()> ask = [this, object, keep, by] { return federation_.resolve(object, keep, by); };
  Reply reply = co_await of_fleet(std::move(viewing), std::move(ask), nullptr);
  co_return reply;
}

}  // namespace edge::edgectl::web
