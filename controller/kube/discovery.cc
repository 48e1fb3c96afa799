#include "controller/kube/discovery.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/ascii.h"
#include "base/text/json.h"

namespace edge::kube {
namespace {

/// A word that nobody serves is not asked for again and again.
constexpr net::Duration kBetweenMisses = std::chrono::seconds(10);
constexpr std::size_t kMaxResources = 20'000;
constexpr std::size_t kMaxVersions = 1'000;
constexpr char kAggregated[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

std::vector<std::string> texts_of(const nlohmann::json& object, const char* key) {
  std::vector<std::string> out;
  const nlohmann::json& list = member_in(object, key);
  if (!list.is_array()) return out;
  for (const nlohmann::json& one : list) {
    if (one.is_string()) out.push_back(one.get<std::string>());
  }
  return out;
}

Resource aggregated_resource(const std::string& group, const std::string& version, const nlohmann::json& entry) {
  Resource resource{.group = group,
                    .version = version,
                    .plural = text_in(entry, "resource"),
                    .kind = text_in(member_in(entry, "responseKind"), "kind"),
                    .namespaced = text_in(entry, "scope") == "Namespaced",
                    .singular = text_in(entry, "singularResource"),
                    .short_names = texts_of(entry, "shortNames"),
                    .categories = texts_of(entry, "categories"),
                    .verbs = texts_of(entry, "verbs"),
                    .subresources = {}};
  const nlohmann::json& subresources = member_in(entry, "subresources");
  if (!subresources.is_array()) return resource;
  for (const nlohmann::json& one : subresources) resource.subresources.push_back(text_in(one, "subresource"));
  return resource;
}

/// An APIResourceList: subresources stand among the resources, as `pods/status`.
void read_resource_list(const std::string& group, const std::string& version, const nlohmann::json& document,
                        std::vector<Resource>& into) {
  const nlohmann::json& entries = member_in(document, "resources");
  if (!entries.is_array()) return;
  const std::size_t first = into.size();
  for (const nlohmann::json& entry : entries) {
    const std::string name = text_in(entry, "name");
    if (name.empty() || name.find('/') != std::string::npos || into.size() >= kMaxResources) continue;
    const nlohmann::json& namespaced = member_in(entry, "namespaced");
    into.push_back({.group = group,
                    .version = version,
                    .plural = name,
                    .kind = text_in(entry, "kind"),
                    .namespaced = namespaced.is_boolean() && namespaced.get<bool>(),
                    .singular = text_in(entry, "singularName"),
                    .short_names = texts_of(entry, "shortNames"),
                    .categories = texts_of(entry, "categories"),
                    .verbs = texts_of(entry, "verbs"),
                    .subresources = {}});
  }
  for (const nlohmann::json& entry : entries) {
    const std::string name = text_in(entry, "name");
    const std::size_t slash = name.find('/');
    if (slash == std::string::npos) continue;
    for (std::size_t i = first; i < into.size(); ++i) {
      if (into[i].plural == name.substr(0, slash)) into[i].subresources.push_back(name.substr(slash + 1));
    }
  }
}

struct GroupVersion {
  std::string group, version;
};

/// APIVersions of /api, or an APIGroupList of /apis: the preferred version of each first.
std::vector<GroupVersion> read_versions(const nlohmann::json& document) {
  std::vector<GroupVersion> out;
  for (const std::string& version : texts_of(document, "versions")) out.push_back({"", version});
  const nlohmann::json& groups = member_in(document, "groups");
  if (!groups.is_array()) return out;
  for (const nlohmann::json& group : groups) {
    const std::string name = text_in(group, "name");
    const std::string preferred = text_in(member_in(group, "preferredVersion"), "version");
    if (!preferred.empty()) out.push_back({name, preferred});
    const nlohmann::json& versions = member_in(group, "versions");
    if (!versions.is_array()) continue;
    for (const nlohmann::json& one : versions) {
      const std::string version = text_in(one, "version");
      if (version != preferred && out.size() < kMaxVersions) out.push_back({name, version});
    }
  }
  return out;
}

net::Task<Failure> read_plain(Client& client, net::Waiter& waiter, std::vector<GroupVersion> versions,
                              DiscoveryReply& reply, std::vector<Resource>& into) {
  for (const GroupVersion& one : versions) {
    const Resource version{.group = one.group, .version = one.version, .plural = {}, .kind = {}};
    Reply answer = co_await client.send(waiter, {.target = path_of(version)});
    if (answer.ok()) {
      read_resource_list(one.group, one.version, parse_json(answer.body), into);
    } else if (answer.failure.kind == Failure::Kind::kRefused) {
      // An extension whose server is away takes no other kind with it.
      reply.unavailable.push_back(version.api_version());
    } else {
      co_return answer.failure;
    }
  }
  co_return Failure{};
}

bool named(const Resource& resource, const std::string& word) {
  return resource.plural == word || resource.singular == word || ascii_lower(resource.kind) == word;
}

bool called(const Resource& resource, const std::string& word) {
  return std::ranges::find(resource.short_names, word) != resource.short_names.end();
}

}  // namespace

std::vector<Resource> read_aggregated_discovery(std::string_view json) {
  std::vector<Resource> out;
  const nlohmann::json document = parse_json(json);
  const nlohmann::json& items = member_in(document, "items");
  if (!items.is_array()) return out;
  for (const nlohmann::json& item : items) {
    const std::string group = text_in(member_in(item, "metadata"), "name");
    const nlohmann::json& versions = member_in(item, "versions");
    if (!versions.is_array()) continue;
    for (const nlohmann::json& version : versions) {
      const nlohmann::json& resources = member_in(version, "resources");
      if (!resources.is_array()) continue;
      for (const nlohmann::json& entry : resources) {
        Resource resource = aggregated_resource(group, text_in(version, "version"), entry);
        if (!resource.plural.empty() && out.size() < kMaxResources) out.push_back(std::move(resource));
      }
    }
  }
  return out;
}

const Resource* ResourceTable::find(std::string_view text) const {
  const std::string word = ascii_lower(text);
  const std::size_t dot = word.find('.');
  const std::string name = word.substr(0, dot);
  const std::string rest = dot == std::string::npos ? "" : word.substr(dot + 1);
  const auto in_place = [&](const Resource& resource) {
    if (rest.empty()) return true;
    const std::string versioned = resource.group.empty() ? resource.version : resource.version + "." + resource.group;
    return rest == resource.group || rest == versioned;
  };
  for (const Resource& resource : all_) {
    if (in_place(resource) && named(resource, name)) return &resource;
  }
  for (const Resource& resource : all_) {
    if (in_place(resource) && called(resource, name)) return &resource;
  }
  return nullptr;
}

const Resource* ResourceTable::find_kind(std::string_view api_version, std::string_view kind) const {
  for (const Resource& resource : all_) {
    if (resource.kind == kind && resource.api_version() == api_version) return &resource;
  }
  return nullptr;
}

const Resource* ResourceTable::find_watched(std::string_view api_version, std::string_view kind) const {
  if (const Resource* exact = find_kind(api_version, kind)) return exact;
  const std::size_t slash = api_version.find('/');
  const std::string_view group = slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
  for (const Resource& resource : all_) {
    if (resource.group == group && resource.kind == kind && resource.has_verb("watch")) return &resource;
  }
  return nullptr;
}

std::vector<const Resource*> ResourceTable::of_category(std::string_view category) const {
  std::vector<const Resource*> out;
  for (const Resource& resource : all_) {
    const auto position = std::ranges::find(resource.categories, category);
    const bool doubled = std::ranges::any_of(
        out, [&](const Resource* other) { return other->group == resource.group && other->plural == resource.plural; });
    if (position != resource.categories.end() && !doubled) out.push_back(&resource);
  }
  return out;
}

net::Task<DiscoveryReply> Discovery::refresh(net::Waiter& waiter) {
  DiscoveryReply reply{.failure = {}};
  std::vector<Resource> found;
  asked_ = client_.loop().now();
  for (const char* target : {"/api", "/apis"}) {
    Reply answer = co_await client_.send(waiter, {.target = target, .accept = kAggregated});
    if (!answer.ok()) co_return DiscoveryReply{.failure = std::move(answer.failure)};
    const nlohmann::json document = parse_json(answer.body);
    if (text_in(document, "kind") == "APIGroupDiscoveryList") {
      for (Resource& resource : read_aggregated_discovery(answer.body)) found.push_back(std::move(resource));
      continue;
    }
    Failure failure = co_await read_plain(client_, waiter, read_versions(document), reply, found);
    if (!failure.none()) co_return DiscoveryReply{.failure = std::move(failure)};
  }
  table_ = ResourceTable(std::move(found));
  reply.table = table_;
  co_return reply;
}

net::Task<bool> Discovery::refresh_for_miss(net::Waiter& waiter, Failure& failure) {
  const bool first = asked_ == net::Time::min();
  if (!first && client_.loop().now() - asked_ < kBetweenMisses) co_return false;
  DiscoveryReply reply = co_await refresh(waiter);
  failure = std::move(reply.failure);
  // What could not be asked is asked for the next time.
  if (!failure.none()) asked_ = net::Time::min();
  co_return failure.none();
}

net::Task<Discovery::Found> Discovery::find(net::Waiter& waiter, std::string word) {
  Found found;
  const Resource* resource = table_.find(word);
  if (resource == nullptr) {
    const bool anew = co_await refresh_for_miss(waiter, found.failure);
    if (anew) resource = table_.find(word);
  }
  if (resource != nullptr) found.resource = *resource;
  co_return found;
}

net::Task<Discovery::Found> Discovery::find_kind(net::Waiter& waiter, std::string api_version, std::string kind) {
  Found found;
  const Resource* resource = table_.find_kind(api_version, kind);
  if (resource == nullptr) {
    const bool anew = co_await refresh_for_miss(waiter, found.failure);
    if (anew) resource = table_.find_kind(api_version, kind);
  }
  if (resource != nullptr) found.resource = *resource;
  co_return found;
}

}  // namespace edge::kube
