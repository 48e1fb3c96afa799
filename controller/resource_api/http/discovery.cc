#include "controller/resource_api/http/discovery.h"

#include <algorithm>
#include <map>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "controller/resource_api/http/reviews.h"

namespace edge::resource_api::http {
namespace {

/// Discovery data of a resource of any kind.
struct Entry {
  std::string version;
  std::string kind;
  std::string plural;
  std::string singular;
  bool namespaced = true;
  Json verbs;
  std::vector<std::string> short_names{};
  std::vector<std::string> categories{};
  std::string storage_hash{};
  /// Name and verbs.
  std::vector<std::pair<std::string, Json>> subresources{};
};

/// The versions of a group, preferred version first, and their resources.
struct Group {
  std::vector<std::string> versions;
  std::vector<Entry> entries;
};

Json all_verbs() { return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}; }

std::string hash_text(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (std::uint64_t hash = hash_bytes(0, text), i = 0; i < 16; ++i, hash >>= 4) out += kDigits[hash & 15];
  return out;
}

Entry entry_of(const ResourceType& type) {
  Entry entry{.version = type.version,
              .kind = type.kind,
              .plural = type.plural,
              .singular = type.singular,
              .namespaced = type.namespaced,
              .verbs = all_verbs(),
              .short_names = type.short_names,
              .categories = type.categories,
              .storage_hash = hash_text(type.collection + "/" + type.kind)};
  if (type.status) entry.subresources.emplace_back("status", Json{"get", "patch", "update"});
  if (type.group.empty() && type.kind == "Namespace") entry.subresources.emplace_back("finalize", Json{"update"});
  return entry;
}

Entry entry_of(const ReviewType& type) {
  Entry entry{.version = std::string(type.version),
              .kind = std::string(type.kind),
              .plural = std::string(type.plural),
              .singular = {},
              .namespaced = type.namespaced,
              .verbs = Json{"create"}};
  entry.singular = entry.plural.substr(0, entry.plural.size() - 1);
  return entry;
}

std::map<std::string, Group> groups_of(const Registry& registry) {
  std::map<std::string, Group> groups;
  const auto add = [&groups](std::string_view name, Entry entry) {
    Group& group = groups[std::string(name)];
    if (std::ranges::find(group.versions, entry.version) == group.versions.end())
      group.versions.push_back(entry.version);
    group.entries.push_back(std::move(entry));
  };
  for (const ResourceTypePtr& type : registry.types()) add(type->group, entry_of(*type));
  for (const ReviewType& type : review_types()) add(type.group, entry_of(type));
  return groups;
}

std::string group_version(std::string_view group, std::string_view version) {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

Json version_entry(std::string_view group, const std::string& version) {
  return {{"groupVersion", group_version(group, version)}, {"version", version}};
}

Json group_json(const std::string& name, const Group& group) {
  Json versions = Json::array();
  for (const std::string& version : group.versions) versions.push_back(version_entry(name, version));
  return {{"name", name}, {"versions", versions}, {"preferredVersion", versions.front()}};
}

void add_plain(const Entry& entry, Json& resources) {
  Json one = {{"name", entry.plural},
              {"singularName", entry.singular},
              {"namespaced", entry.namespaced},
              {"kind", entry.kind},
              {"verbs", entry.verbs}};
  if (!entry.short_names.empty()) one["shortNames"] = entry.short_names;
  if (!entry.categories.empty()) one["categories"] = entry.categories;
  if (!entry.storage_hash.empty()) one["storageVersionHash"] = entry.storage_hash;
  resources.push_back(std::move(one));
  for (const auto& [name, verbs] : entry.subresources) {
    resources.push_back({{"name", entry.plural + "/" + name},
                         {"singularName", ""},
                         {"namespaced", entry.namespaced},
                         {"kind", entry.kind},
                         {"verbs", verbs}});
  }
}

Json aggregated_entry(std::string_view group, const Entry& entry) {
  const Json kind = {{"group", group}, {"version", entry.version}, {"kind", entry.kind}};
  Json one = {{"resource", entry.plural},
              {"responseKind", kind},
              {"scope", entry.namespaced ? "Namespaced" : "Cluster"},
              {"singularResource", entry.singular},
              {"verbs", entry.verbs}};
  if (!entry.short_names.empty()) one["shortNames"] = entry.short_names;
  if (!entry.categories.empty()) one["categories"] = entry.categories;
  for (const auto& [name, verbs] : entry.subresources) {
    one["subresources"].push_back({{"subresource", name}, {"responseKind", kind}, {"verbs", verbs}});
  }
  return one;
}

}  // namespace

Json core_versions(std::string_view server) {
  return {{"kind", "APIVersions"},
          {"versions", {"v1"}},
          {"serverAddressByClientCIDRs", {{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", server}}}}};
}

Json group_list(const Registry& registry) {
  Json groups = Json::array();
  for (const auto& [name, group] : groups_of(registry)) {
    if (!name.empty()) groups.push_back(group_json(name, group));
  }
  return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", groups}};
}

std::optional<Json> one_group(const Registry& registry, std::string_view group) {
  const auto groups = groups_of(registry);
  const auto found = groups.find(std::string(group));
  if (found == groups.end() || group.empty()) return std::nullopt;
  Json one = group_json(found->first, found->second);
  one["kind"] = "APIGroup";
  one["apiVersion"] = "v1";
  return one;
}

std::optional<Json> resource_list(const Registry& registry, std::string_view group, std::string_view version) {
  const auto groups = groups_of(registry);
  const auto found = groups.find(std::string(group));
  if (found == groups.end()) return std::nullopt;
  if (std::ranges::find(found->second.versions, version) == found->second.versions.end()) return std::nullopt;
  Json resources = Json::array();
  for (const Entry& entry : found->second.entries) {
    if (entry.version == version) add_plain(entry, resources);
  }
  return Json{{"kind", "APIResourceList"},
              {"apiVersion", "v1"},
              {"groupVersion", group_version(group, version)},
              {"resources", resources}};
}

Json aggregated(const Registry& registry, bool core, std::string_view version) {
  Json items = Json::array();
  for (const auto& [name, group] : groups_of(registry)) {
    if (name.empty() != core) continue;
    Json versions = Json::array();
    for (const std::string& one : group.versions) {
      Json resources = Json::array();
      for (const Entry& entry : group.entries) {
        if (entry.version == one) resources.push_back(aggregated_entry(name, entry));
      }
      versions.push_back({{"version", one}, {"freshness", "Current"}, {"resources", resources}});
    }
    items.push_back({{"metadata", {{"name", name}, {"creationTimestamp", nullptr}}}, {"versions", versions}});
  }
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", "apidiscovery.k8s.io/" + std::string(version)},
          {"metadata", Json::object()},
          {"items", items}};
}

}  // namespace edge::resource_api::http
