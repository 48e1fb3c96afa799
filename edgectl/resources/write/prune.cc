#include "edgectl/resources/write/prune.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/write/manifest.h"
#include "edgectl/resources/write/merge.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

/// Beside own kinds.
constexpr const char* kOtherTypes[] = {"httproutes",
                                       "grpcroutes",
                                       "tlsroutes",
                                       "tcproutes",
                                       "udproutes",
                                       "backendtlspolicies",
                                       "gateways.gateway.networking.k8s.io",
                                       "referencegrants",
                                       "ingresses",
                                       "endpointslices",
                                       "endpoints",
                                       "services",
                                       "configmaps",
                                       "secrets"};

bool same(const Type& a, const Type& b) {
  return a.resource.group == b.resource.group && a.resource.plural == b.resource.plural;
}

/// By server-side apply.
bool is_applied_by(const Json& object, std::string_view manager) {
  return std::ranges::any_of(list_in(member_in(object, "metadata"), "managedFields"), [&](const Json& entry) {
    return text_in(entry, "manager") == manager && text_in(entry, "operation") == "Apply";
  });
}

bool is_kept_for_good(const Type& type) {
  return type.resource.plural == "namespaces" || type.resource.plural == "customresourcedefinitions";
}

}  // namespace

std::string Applied::key(const Type& type, const std::string& name_space, const std::string& name) {
  return type.resource.group + "/" + type.resource.plural + "/" + name_space + "/" + name;
}

void Applied::add(const Type& type, const std::string& name_space, const std::string& name) {
  keys_.insert(key(type, name_space, name));
  if (type.resource.namespaced) namespaces_.insert(name_space);
  if (std::ranges::none_of(types_, [&](const Type& known) { return same(known, type); })) types_.push_back(type);
}

bool Applied::has(const Type& type, const std::string& name_space, const std::string& name) const {
  return keys_.contains(key(type, name_space, name));
}

std::vector<Type> Applied::types(Cluster& cluster) const {
  std::vector<Type> all = types_;
  const auto add = [&](const Type& type) {
    if (std::ranges::none_of(all, [&](const Type& known) { return same(known, type); })) all.push_back(type);
  };
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.own) add({resource_of(kind), &kind});
  }
  for (const char* word : kOtherTypes) {
    if (const auto found = cluster.find(word); found.type) add(*found.type);
  }
  std::erase_if(all, is_kept_for_good);
  std::ranges::stable_sort(all, std::ranges::greater(),
                           [](const Type& type) { return creation_rank(type.resource.kind); });
  return all;
}

kube::Failure find_leftovers(Cluster& cluster, const Type& type, const Applied& applied, const std::string& selector,
                             std::string_view manager, std::vector<Leftover>& into) {
  const std::set<std::string> everywhere = {std::string()};
  for (const std::string& name_space : type.resource.namespaced ? applied.namespaces() : everywhere) {
    kube::ListOptions options;
    options.name_space = name_space;
    options.label_selector = selector;
    options.reading.managed_fields = true;
    const auto list = cluster.api().list_all(type.resource, options);
    if (list.failure.not_found()) continue;  // not served
    if (!list.ok()) return list.failure;
    for (const kube::Object& object : list.list.items) {
      if (applied.has(type, object.name_space, object.name)) continue;
      const Json json = parsed_json(object.text);
      if (last_applied(json).empty() && !is_applied_by(json, manager)) continue;
      into.push_back({type, object.name_space, object.name, object.uid, object.resource_version});
    }
  }
  return {};
}

}  // namespace edge::edgectl
