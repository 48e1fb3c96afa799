// The calls of Api that pages to look at use: topology, policies, addresses, certificates, access log, traces.
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/web/access/reply_filter.h"
#include "edgectl/web/api/api.h"
#include "edgectl/web/api/replies.h"
#include "edgectl/web/api/views/certificate_list.h"
#include "edgectl/web/api/views/topology.h"
#include "net/server/target.h"

namespace edge::edgectl::web {
namespace {

constexpr net::Duration kViewTime = std::chrono::seconds(25);
constexpr std::size_t kMostSearch = 256;

/// Ports of listeners, read from the live copy once for a reply.
class ListenerPorts {
 public:
  explicit ListenerPorts(const StoreView& view) : view_(view) {}

  unsigned operator()(const std::string& gateway, const std::string& listener) {
    const std::string key = gateway + " " + listener;
    const auto [at, added] = known_.emplace(key, 0U);
    if (added) at->second = find(gateway, listener);
    return at->second;
  }

 private:
  unsigned find(const std::string& gateway, const std::string& listener) const {
    for (const std::string_view name : gateway_kinds()) {
      const StoredKind* kind = view_.find_kind(name);
      if (kind == nullptr) continue;
      const StoredObject* object = view_.find_object(*kind, gateway);
      if (object == nullptr) continue;
      const nlohmann::json json = parse_json(object->text);
      for (const nlohmann::json& one : list_in(member_in(json, "spec"), "listeners")) {
        if (text_in(one, "name") == listener) return static_cast<unsigned>(integer_in(one, "port") & 0xffff);
      }
    }
    return 0;
  }

  const StoreView& view_;
  std::map<std::string, unsigned> known_;
};

std::int64_t unix_micros() {
  using std::chrono::microseconds;
  return std::chrono::duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

net::server::Reply Api::topology(const Viewing& viewing, const std::string& query) const {
  const auto parameters = net::server::decode_query(query);
  if (!parameters) return error_reply(400, "the query cannot be read");
  TopologyQuery asked;
  for (const auto& [name, value] : *parameters) {
    if (value.size() > kMostSearch) return error_reply(400, name + " takes at most 256 characters");
    if (name == "namespace") {
      asked.name_space = value;
    } else if (name == "search") {
      asked.search = value;
    } else {
      return error_reply(400, "there is no parameter " + name);
    }
  }
  return json_reply(json_line(topology_json(view_of(viewing), asked)));
}

net::Task<net::server::Reply> Api::certificates(Viewing viewing) {
  const schemas::Kind* kind = schemas::find_kind("Secret");
  CallWaiter waiter(waiters_);
  kube::ListOptions options;
  options.reading = {.api_version = std::string(kind->api_version), .kind = std::string(kind->kind)};
  kube::Resource resource{
      .group = {}, .version = "v1", .plural = std::string(kind->plural), .kind = std::string(kind->kind)};
  const kube::ListReply list =
      co_await viewing.viewer->client().list_all(*waiter, std::move(resource), std::move(options));
  // What the Secrets say is read now and not kept.
  const std::string fault = list.ok() ? std::string() : list.failure.text();
  co_return json_reply(json_line(certificates_json(certificate_uses(view_of(viewing)), list.list.items, fault)));
}

net::Task<net::server::Reply> Api::access_log(Viewing viewing, std::string query) {
  const auto asked = read_request_query(query);
  if (!asked) co_return error_reply(asked.error());
  const Jobs::Outcome outcome = co_await fleet_jobs_.run(
      [this]() -> Result<std::string> {
        if (Status status = request_log_.refresh(); !status) return status.error();
        return std::string();
      },
      kViewTime);
  // While many look, some are given what others have fetched.
  const bool crowded = !outcome.result && outcome.result.error().code == ErrorCode::kResourceExhausted;
  if (!outcome.result && !crowded) co_return error_reply(outcome.result.error());
  const StoreView view = view_of(viewing);
  ListenerPorts ports(view);
  const auto port_of = [&ports](const std::string& gateway, const std::string& listener) {
    return ports(gateway, listener);
  };
  // Requests of no route are seen by those who may list everything.
  const auto may_see = [&view](const std::string& route) {
    if (view.visible().everything()) return true;
    return !route.empty() && view.names(route_kinds(), route.substr(0, route.find(':')));
  };
  co_return json_reply(request_log_.find(*asked, port_of, may_see));
}

net::Task<net::server::Reply> Api::traces(Viewing viewing, std::string query) {
  const auto search = read_trace_search(query, unix_micros());
  if (!search) co_return error_reply(search.error());
  std::function<Result<std::string>()> ask = [this, search = *search] { return traces_.search(search); };
  Reply reply = co_await of_fleet(std::move(viewing), std::move(ask), visible_traces);
  co_return reply;
}

net::Task<net::server::Reply> Api::history(Viewing viewing, std::string query) {
  const auto parameters = net::server::decode_query(query);
  if (!parameters) co_return error_reply(400, "the query cannot be read");
  std::string group;
  for (const auto& [name, value] : *parameters) {
    if (name == "group") group = value;
  }
  if (group.size() > kLongestGroup) co_return error_reply(400, "group: the name of a group has at most 253 characters");
  std::function<Result<std::string>()> ask = [this, group] { return fleet_.history(group); };
  Reply reply = co_await of_fleet(std::move(viewing), std::move(ask), visible_history);
  co_return reply;
}

}  // namespace edge::edgectl::web
