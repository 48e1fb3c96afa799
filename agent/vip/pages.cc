#include "agent/vip/pages.h"

#include <nlohmann/json.hpp>

#include "agent/vip/holder.h"

namespace edge::agent::vip {
namespace {

using daemon::AdminReply;
using daemon::AdminRequest;
using Json = nlohmann::ordered_json;

AdminReply answer_of(const Status& status) {
  if (status) return daemon::text_reply(200, "done\n");
  const int code = status.error().code == ErrorCode::kNotFound             ? 404
                   : status.error().code == ErrorCode::kFailedPrecondition ? 409
                                                                           : 500;
  return daemon::text_reply(code, status.error().text + "\n");
}

Json json_of(const AddressState& state) {
  Json json = {{"namespace", state.name_space}, {"name", state.name},
               {"address", state.address},      {"held", state.held},
               {"epoch", state.epoch},          {"holder", state.holder},
               {"successor", state.successor},  {"conflicts", state.conflicts}};
  if (!state.interface.empty()) json["interface"] = state.interface;
  if (state.unfit != Unfit::kNo) json["unfit"] = to_string(state.unfit);
  if (!state.reason.empty()) json["reason"] = state.reason;
  for (const bgp::SessionState& session : state.sessions) {
    json["sessions"].push_back({{"peer", session.peer},
                                {"as", session.peer_as},
                                {"state", session.state},
                                {"sinceMs", session.since_ms},
                                {"lastError", session.last_error},
                                {"bfd", session.bfd},
                                {"announced", session.announced}});
  }
  if (state.graceful_shutdown) json["gracefulShutdown"] = true;
  if (!state.cause.empty()) json["lastMove"] = {{"cause", state.cause}, {"from", state.from}};
  return json;
}

AdminReply list(const Holder& holder) {
  Json all = Json::array();
  for (const AddressState& state : holder.states()) all.push_back(json_of(state));
  const Json json = {{"version", holder.version()},
                     {"drained", holder.drained()},
                     {"liveAgents", holder.live_nodes()},
                     {"vips", std::move(all)}};
  return {.content_type = "application/json", .body = json.dump(2) + "\n"};
}

AdminReply move(Holder& holder, const AdminRequest& request) {
  const auto name = daemon::parameter(request.query, "vip");
  const auto to = daemon::parameter(request.query, "to");
  const std::size_t slash = name ? name->find('/') : std::string::npos;
  if (slash == std::string::npos)
    return daemon::text_reply(400, "give ?vip=NAMESPACE/NAME, and &to=AGENT if you like\n");
  return answer_of(holder.move(name->substr(0, slash), name->substr(slash + 1), to.value_or("")));
}

}  // namespace

void add_pages(daemon::DebugPages& pages, std::function<std::shared_ptr<Holder>()> holder) {
  const auto with = [&](auto work) {
    return [holder, work](const AdminRequest& request) -> std::optional<AdminReply> {
      const std::shared_ptr<Holder> own = holder();
      if (own == nullptr) return daemon::text_reply(404, "this agent holds no virtual addresses\n");
      return work(*own, request);
    };
  };
  pages.add({"/debug/vips", "GET", "virtual addresses: who holds them, and why not this agent",
             with([](Holder& own, const AdminRequest&) { return list(own); })});
  pages.add({"/debug/vips/move", "POST", "gives an address to another agent: ?vip=NAMESPACE/NAME&to=AGENT",
             with([](Holder& own, const AdminRequest& request) { return move(own, request); })});
  pages.add({"/debug/vips/drain", "POST", "holds no address any more where another agent serves it",
             with([](Holder& own, const AdminRequest&) { return answer_of(own.drain(true)); })});
  pages.add({"/debug/vips/undrain", "POST", "may hold addresses again",
             with([](Holder& own, const AdminRequest&) { return answer_of(own.drain(false)); })});
}

}  // namespace edge::agent::vip
