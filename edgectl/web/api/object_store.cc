#include "edgectl/web/api/object_store.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/agents/redact.h"
#include "edgectl/resources/output.h"

namespace edge::edgectl::web {
namespace {

constexpr std::string_view kAge = "AGE";
/// Between two attempts to have the list of kinds.
constexpr net::Duration kRetry = std::chrono::seconds(3);
/// Of objects that the compiler has not heard of yet.
constexpr std::size_t kMostTouched = 20'000;
/// Kinds may be installed later.
constexpr net::Duration kLookAgain = std::chrono::seconds(60);

Columns columns_of(const schemas::Kind& kind) {
  return kind.manifest != nullptr ? Columns::of_kind(kind, /*wide=*/true) : Columns::of_any(/*namespaced=*/true);
}

/// The version of the tables, else another that the server prefers.
const kube::Resource* find_served(const kube::ResourceTable& table, const schemas::Kind& kind) {
  if (const kube::Resource* exact = table.find_kind(kind.api_version, kind.kind)) return exact;
  const std::size_t slash = kind.api_version.find('/');
  if (slash == std::string_view::npos) return nullptr;
  for (const kube::Resource& resource : table.all()) {
    if (resource.group == kind.api_version.substr(0, slash) && resource.kind == kind.kind) return &resource;
  }
  return nullptr;
}

}  // namespace

bool is_left_out(std::string_view kind) {
  constexpr std::array<std::string_view, 4> kLeftOut = {"Secret", "ConfigMap", "Endpoints", "EndpointSlice"};
  return std::ranges::find(kLeftOut, kind) != kLeftOut.end();
}

StoredKind::StoredKind(const schemas::Kind& of) : kind(of), columns(columns_of(of)) {
  // NAMESPACE and NAME are members of their own.
  heads.assign(columns.heads().begin() + 2, columns.heads().end());
}

ObjectStore::ObjectStore(kube::Client& client, std::function<void(std::string_view plural)> changed)
    : client_(client), discovery_(client), waiter_(client.loop()), changed_(std::move(changed)) {
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (!is_left_out(kind.kind)) kinds_.push_back(std::make_unique<StoredKind>(kind));
  }
}

void ObjectStore::start() { discover(); }

void ObjectStore::stop() {
  waiter_.cancel();
  for (const auto& kind : kinds_) {
    if (kind->informer != nullptr) kind->informer->stop();
  }
}

net::Detached ObjectStore::discover() {
  while (!waiter_.cancelled()) {
    const kube::DiscoveryReply reply = co_await discovery_.refresh(waiter_);
    fault_ = reply.ok() ? std::string() : reply.failure.text();
    std::size_t missing = 0;
    for (const auto& kind : kinds_) {
      const kube::Resource* resource = reply.ok() ? find_served(reply.table, kind->kind) : nullptr;
      if (resource != nullptr && !kind->served) follow(*kind, *resource);
      missing += kind->served ? 0U : 1U;
    }
    changed_("kinds");
    if (reply.ok() && missing == 0) co_return;
    const net::Time until = client_.loop().now() + (reply.ok() ? kLookAgain : kRetry);
    co_await waiter_.wait(until);
  }
}

void ObjectStore::follow(StoredKind& kind, const kube::Resource& resource) {
  kind.served = true;
  kind.resource = resource;
  kind.informer = std::make_unique<kube::Informer>(
      client_, resource, kube::InformerOptions{},
      kube::InformerEvents{.changed = [this, &kind](kube::Object object) { put(kind, std::move(object)); },
                           .removed =
                               [this, &kind](const std::string& key) {
                                 if (kind.objects.erase(key) == 0 && kind.left_out > 0) --kind.left_out;
                                 touch(kind, key);
                                 tell(kind);
                               },
                           .synced =
                               [this, &kind] {
                                 kind.synced = true;
                                 tell(kind);
                               },
                           .connection =
                               [this, &kind](bool connected, const kube::Failure& failure) {
                                 kind.fault = connected ? std::string() : failure.text();
                                 tell(kind);
                               }});
  kind.informer->start();
}

void ObjectStore::put(StoredKind& kind, kube::Object object) {
  std::string key = object.key();
  const auto known = kind.objects.find(key);
  if (known == kind.objects.end() && kind.objects.size() >= kMostObjects) {
    ++kind.left_out;
    tell(kind);
    return;
  }
  const nlohmann::json json = parsed_json(object.text);
  StoredObject stored{.name_space = std::move(object.name_space),
                      .name = std::move(object.name),
                      .uid = std::move(object.uid),
                      .text = std::move(object.text),
                      .created = text_in(member_in(json, "metadata"), "creationTimestamp"),
                      .cells = kind.columns.cells(json, /*now=*/0),
                      .verdict = verdict_of(conditions_of(json)),
                      .references = references_of(json)};
  stored.cells.erase(stored.cells.begin(), stored.cells.begin() + 2);
  for (std::string& cell : stored.cells) redact_user_information(cell);
  // Of tens of thousands, each would have the room that it was made in.
  stored.text.shrink_to_fit();
  stored.cells.shrink_to_fit();
  stored.references.shrink_to_fit();
  for (std::size_t i = 0; i < kind.heads.size(); ++i) {
    if (kind.heads[i] == kAge) stored.cells[i] = stored.created;
  }
  touch(kind, key);
  kind.objects.insert_or_assign(std::move(key), std::move(stored));
  tell(kind);
}

void ObjectStore::tell(const StoredKind& kind) {
  ++version_;
  changed_(kind.kind.plural);
}

const StoredKind* ObjectStore::find(std::string_view plural) const {
  const auto found = std::ranges::find_if(kinds_, [&](const auto& kind) { return kind->kind.plural == plural; });
  return found == kinds_.end() ? nullptr : found->get();
}

const StoredKind* ObjectStore::find_kind(std::string_view name) const {
  const auto found = std::ranges::find_if(kinds_, [&](const auto& kind) { return kind->kind.kind == name; });
  return found == kinds_.end() ? nullptr : found->get();
}

std::vector<Reference> ObjectStore::referring_to(const Reference& object) const {
  std::vector<Reference> found;
  for (const auto& kind : kinds_) {
    for (const auto& [key, stored] : kind->objects) {
      for (const Reference& reference : stored.references) {
        if (reference.name != object.name || reference.kind != object.kind || reference.name_space != object.name_space)
          continue;
        if (found.size() == kMostReferences) return found;
        found.push_back({std::string(kind->kind.kind), stored.name_space, stored.name, reference.field});
        break;
      }
    }
  }
  return found;
}

bool ObjectStore::synced() const {
  return std::ranges::any_of(kinds_, [](const auto& kind) { return kind->served; }) &&
         std::ranges::all_of(kinds_,
                             [](const auto& kind) { return !kind->served || kind->synced || !kind->fault.empty(); });
}

void ObjectStore::touch(const StoredKind& kind, const std::string& key) {
  if (missed_) return;
  touched_.emplace(kind.kind.plural, key);
  if (touched_.size() < kMostTouched) return;
  touched_.clear();
  missed_ = true;
}

bool ObjectStore::take_changes(bool all, const ChangeVisitor& visit) {
  const bool everything = all || missed_;
  const auto touched = std::exchange(touched_, {});
  missed_ = false;
  if (everything) {
    for (const auto& kind : kinds_) {
      for (const auto& [key, object] : kind->objects) visit(kind->kind.plural, key, &object.text);
    }
    return true;
  }
  for (const auto& [plural, key] : touched) {
    const StoredKind* kind = find(plural);
    const auto found = kind->objects.find(key);
    visit(plural, key, found == kind->objects.end() ? nullptr : &found->second.text);
  }
  return false;
}

}  // namespace edge::edgectl::web
