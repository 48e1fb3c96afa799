#include "controller/operator/followed.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/operator/installation.h"
#include "controller/operator/render/render.h"

namespace edge::cluster_operator {
namespace {

using nlohmann::json;

/// Without it an installation is less safe, not less useful; small APIs do not have it.
bool is_needed(std::string_view kind) { return kind != "PodDisruptionBudget"; }

}  // namespace

std::string cluster_of(const json& object) {
  const json& metadata = member_in(object, "metadata");
  const json& labels = member_in(metadata, "labels");
  const std::string& name = text_in(labels, "app.kubernetes.io/instance");
  const std::string& own = text_in(metadata, "namespace");
  const std::string& name_space = own.empty() ? text_in(labels, EDGE_API_GROUP "/cluster-namespace") : own;
  return name.empty() || name_space.empty() ? std::string() : name_space + "/" + name;
}

Followed::Followed(kube::Client& client, std::string name_space, Logger log, FollowedEvents events)
    : client_(client), name_space_(std::move(name_space)), log_(std::move(log)), events_(std::move(events)) {}

Followed::~Followed() = default;

std::string Followed::follow(const kube::ResourceTable& table) {
  std::string missing;
  const auto look = [&](std::string_view api_version, std::string_view kind) {
    if (kinds_.contains(kind)) return;
    const kube::Resource* resource = table.find_kind(api_version, kind);
    if (resource != nullptr) return follow(std::string(kind), *resource);
    if (is_needed(kind)) missing += (missing.empty() ? "" : ", ") + std::string(kind);
  };
  look(EDGE_API_GROUP "/v1alpha1", kClusterKind);
  for (const ObjectKind& kind : object_kinds()) look(kind.api_version, kind.kind);
  complete_ = missing.empty();
  check_synced();
  return missing;
}

void Followed::follow(const std::string& kind, const kube::Resource& resource) {
  kube::InformerOptions options;
  if (resource.namespaced) options.name_space = name_space_;
  if (kind != kClusterKind) options.label_selector = std::string(kManagedBy) + "=" + std::string(kFieldManager);
  OfKind& known = kinds_.try_emplace(kind, OfKind{.resource = resource}).first->second;
  kube::InformerEvents events;
  events.changed = [this, kind](const kube::Object& object) {
    auto read = std::make_shared<json>(parse_json(object.text));
    ObjectPtr& there = kinds_.find(kind)->second.objects[object.key()];
    // With other labels it was somebody else's.
    if (there != nullptr) told(kind, *there);
    there = std::move(read);
    told(kind, *there);
  };
  events.removed = [this, kind](const std::string& key) {
    auto& objects = kinds_.find(kind)->second.objects;
    const auto gone = objects.extract(key);
    if (!gone.empty()) told(kind, *gone.mapped());
  };
  events.synced = [this] { check_synced(); };
  events.connection = [this, kind](bool connected, const kube::Failure& failure) {
    connection(kind, connected, failure);
  };
  known.informer = std::make_unique<kube::Informer>(client_, resource, std::move(options), std::move(events));
  known.informer->start();
}

void Followed::told(const std::string& kind, const json& object) {
  const json& metadata = member_in(object, "metadata");
  const std::string cluster =
      kind == kClusterKind ? text_in(metadata, "namespace") + "/" + text_in(metadata, "name") : cluster_of(object);
  if (cluster.empty()) return;
  // Another operator's, which keeps another namespace.
  if (!name_space_.empty() && !cluster.starts_with(name_space_ + "/")) return;
  events_.changed(cluster);
}

void Followed::connection(const std::string& kind, bool connected, const kube::Failure& failure) {
  const bool was = away_.empty();
  if (connected) {
    away_.erase(kind);
  } else {
    away_[kind] = true;
  }
  if (was && !away_.empty()) log_.warn("the API does not answer for " + kind + " (" + failure.text() + ")");
  if (!was && away_.empty()) log_.info("the API answers again");
}

void Followed::check_synced() {
  if (told_synced_ || !synced()) return;
  told_synced_ = true;
  events_.synced();
}

void Followed::stop() {
  for (auto& [kind, known] : kinds_) {
    if (known.informer) known.informer->stop();
  }
}

bool Followed::synced() const {
  const auto done = [](const auto& entry) { return entry.second.informer && entry.second.informer->synced(); };
  return complete_ && std::ranges::all_of(kinds_, done);
}

const kube::Resource* Followed::resource(std::string_view kind) const {
  const auto found = kinds_.find(kind);
  return found == kinds_.end() ? nullptr : &found->second.resource;
}

ObjectPtr Followed::find(std::string_view kind, const std::string& key) const {
  const auto found = kinds_.find(kind);
  if (found == kinds_.end()) return nullptr;
  const auto object = found->second.objects.find(key);
  return object == found->second.objects.end() ? nullptr : object->second;
}

std::vector<ObjectPtr> Followed::all(std::string_view kind) const {
  std::vector<ObjectPtr> objects;
  const auto found = kinds_.find(kind);
  if (found == kinds_.end()) return objects;
  for (const auto& [key, object] : found->second.objects) objects.push_back(object);
  return objects;
}

}  // namespace edge::cluster_operator
