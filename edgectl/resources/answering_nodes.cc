#include "edgectl/resources/answering_nodes.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl {
namespace {

/// Of a pool, where a gateway has the address.
std::optional<AnsweringNodes> read_pool(const nlohmann::json& vip, const IpAddress& address) {
  const nlohmann::json& metadata = member_in(vip, "metadata");
  for (const nlohmann::json& allocation : list_in(member_in(vip, "status"), "allocations")) {
    if (parse_ip(text_in(allocation, "address")) != address) continue;
    AnsweringNodes found{text_in(metadata, "namespace") + "/" + text_in(metadata, "name"), {}, {}};
    const std::string node = text_in(allocation, "node");
    if (!node.empty()) found.nodes.push_back(node);
    if (node.empty()) found.reason = "no agent holds it";
    return found;
  }
  return std::nullopt;
}

AnsweringNodes read(const nlohmann::json& vip) {
  const nlohmann::json& metadata = member_in(vip, "metadata");
  const nlohmann::json& status = member_in(vip, "status");
  AnsweringNodes found{text_in(metadata, "namespace") + "/" + text_in(metadata, "name"), {}, {}};
  const nlohmann::json& announcing = member_in(status, "announcingNodes");
  if (announcing.is_array()) {
    for (const nlohmann::json& node : announcing) {
      if (node.is_string()) found.nodes.push_back(node.get<std::string>());
    }
  }
  const std::string& current = text_in(status, "currentNode");
  if (found.nodes.empty() && !current.empty()) found.nodes.push_back(current);
  const nlohmann::json& conditions = member_in(status, "conditions");
  if (!found.nodes.empty() || !conditions.is_array()) return found;
  for (const nlohmann::json& condition : conditions) {
    if (text_in(condition, "type") != "Announced") continue;
    found.reason = text_in(condition, "reason") + ": " + text_in(condition, "message");
  }
  return found;
}

}  // namespace

std::optional<AnsweringNodes> answering_nodes(Cluster& cluster, const IpAddress& address) {
  const auto type = cluster.find("proxyvips");
  if (!type.failure.none() || !type.type) return std::nullopt;
  const auto reply = cluster.api().list_all(type.type->resource, {});
  if (!reply.ok()) return std::nullopt;
  for (const kube::Object& object : reply.list.items) {
    const nlohmann::json vip = parse_json(object.text);
    if (auto pooled = read_pool(vip, address)) return pooled;
    const std::string& written = text_in(member_in(vip, "spec"), "address");
    const auto own = parse_ip(written.substr(0, written.find('/')));
    if (own && *own == address) return read(vip);
  }
  return std::nullopt;
}

}  // namespace edge::edgectl
