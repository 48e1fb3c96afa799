#include "standalone/applier.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"

namespace edge::standalone {
namespace {

using Json = nlohmann::json;

constexpr const char* kManager = "edge-files";
constexpr std::size_t kMaxInventoryBytes = std::size_t{256} << 20;
/// Calls under way at a time: the API puts those that come together to disk together.
constexpr std::size_t kAtOnce = 16;

std::string key_of(const FileObject& object) {
  const std::size_t slash = object.api_version.find('/');
  const std::string group = slash == std::string::npos ? "" : object.api_version.substr(0, slash);
  return object.text() + " " + group;
}

std::string place_of(const FileObject& object) {
  return object.file + ":" + std::to_string(object.line) + ": " + object.text() + ": ";
}

std::uint64_t hash_of(const FileObject& object) { return hash_bytes(1, object.json) | 1; }

}  // namespace

Result<std::unique_ptr<Applier>> Applier::create(kube::Config config, std::string inventory) {
  auto client = kube::BlockingClient::make(std::move(config));
  if (!client) return client.error();
  std::unique_ptr<Applier> applier(new Applier(std::move(*client), std::move(inventory)));
  if (Status status = applier->read_inventory(); !status) return status.error();
  return applier;
}

Status Applier::read_inventory() {
  const auto content = read_file(path_, kMaxInventoryBytes);
  if (!content) return content.error().code == ErrorCode::kNotFound ? Status() : Status(content.error());
  const Json json = parse_json(*content);
  if (!json.is_object()) return Error{ErrorCode::kDataLoss, path_ + " is no JSON object"};
  for (const auto& [key, entry] : json.items()) {
    if (!entry.is_object()) continue;
    inventory_[key] = {text_in(entry, "apiVersion"), text_in(entry, "kind"), text_in(entry, "namespace"),
                       text_in(entry, "name"),       text_in(entry, "file"), 0};
  }
  return {};
}

Status Applier::write_inventory() const {
  Json json = Json::object();
  for (const auto& [key, entry] : inventory_) {
    json[key] = {{"apiVersion", entry.api_version},
                 {"kind", entry.kind},
                 {"namespace", entry.name_space},
                 {"name", entry.name},
                 {"file", entry.file}};
  }
  const std::string content = indented_json(json, 1);
  return write_file(path_, std::string_view(content), FileAccess::kOwnerOnly);
}

std::optional<kube::Resource> Applier::resource_of(const std::string& api_version, const std::string& kind,
                                                   std::string& fault) {
  const std::string key = api_version + " " + kind;
  if (const auto known = resources_.find(key); known != resources_.end()) return known->second;
  const auto found = client_->find_kind(api_version, kind);
  if (!found.failure.none()) fault = found.failure.text();
  if (!found.resource) return std::nullopt;
  return resources_.emplace(key, *found.resource).first->second;
}

Applier::Outcome Applier::apply(const controller::Update& update) {
  Outcome outcome;
  // Files that cannot be read, or a directory that is empty for a moment, are no wish to lose everything.
  if (update.texts.empty()) return outcome;
  // Files may define kinds and have objects of them. Each turn more kinds are known, so this ends.
  while (apply_once(update, outcome)) outcome.faults.clear();
  return outcome;
}

/// Kinds that a definition has made a moment ago.
bool Applier::learn(const std::set<std::pair<std::string, std::string>>& kinds) {
  const auto discovered = client_->discover();
  bool learnt = false;
  for (const auto& [api_version, kind] : kinds) {
    const kube::Resource* resource = discovered.table.find_kind(api_version, kind);
    learnt |= resource != nullptr && resources_.emplace(api_version + " " + kind, *resource).second;
  }
  return learnt;
}

bool Applier::apply_once(const controller::Update& update, Outcome& outcome) {
  std::vector<FileObject> objects;
  Inventory wanted;
  bool all_known = true;
  bool definitions = false;
  std::set<std::pair<std::string, std::string>> unserved;
  for (FileObject& object : objects_of(update)) {
    std::string fault;
    const auto resource = resource_of(object.api_version, object.kind, fault);
    if (!resource) {
      if (!fault.empty()) {
        all_known = false;
        outcome.faults.push_back(place_of(object) + fault);
      } else {
        unserved.emplace(object.api_version, object.kind);
      }
      continue;
    }
    if (resource->namespaced && object.name_space.empty()) object.name_space = "default";
    const std::string key = key_of(object);
    const auto known = inventory_.find(key);
    // The API may have a sound version, of this run or one before.
    if (object.at_fault && known != inventory_.end()) continue;
    const std::uint64_t hash = known == inventory_.end() ? 0 : known->second.hash;
    wanted[key] = {object.api_version, object.kind, object.name_space, object.name, object.file, hash};
    if (hash == hash_of(object)) continue;
    definitions |= object.kind == "CustomResourceDefinition";
    objects.push_back(std::move(object));
  }
  // Noted first: what is applied and then forgotten would never be pruned.
  bool noted = false;
  for (const auto& [key, entry] : wanted) {
    Applied& known = inventory_[key];
    noted |= known.name.empty() || known.file != entry.file;
    known = entry;
  }
  if (noted) {
    if (Status status = write_inventory(); !status) outcome.faults.push_back(status.error().text);
  }
  ensure_namespaces(objects, outcome);
  apply_all(std::move(objects), outcome);
  if (definitions && !unserved.empty() && learn(unserved)) return true;
  // What could not be looked up is missing among what is wanted.
  if (all_known) prune(update, wanted, outcome);
  return false;
}

/// Files name namespaces without saying that they exist.
void Applier::ensure_namespaces(const std::vector<FileObject>& objects, Outcome& outcome) {
  std::set<std::string> names;
  for (const FileObject& object : objects) {
    if (!object.name_space.empty()) names.insert(object.name_space);
  }
  std::string fault;
  const auto resource = names.empty() ? std::nullopt : resource_of("v1", "Namespace", fault);
  if (!resource) return;
  for (const std::string& name : names) {
    if (client_->get(*resource, {}, name).ok()) continue;
    const Json made = {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}};
    const kube::ObjectReply reply = client_->create(*resource, {}, made.dump(), {.field_manager = kManager});
    if (!reply.ok() && !reply.failure.already_exists()) {
      outcome.faults.push_back("namespace " + name + ": " + reply.failure.text());
    }
  }
}

/// Rank by rank: what others refer to stands first.
void Applier::apply_all(std::vector<FileObject> objects, Outcome& outcome) {
  kube::WriteOptions options;
  options.field_manager = kManager;
  options.force = true;
  std::mutex mutex;
  const auto apply_one = [&](const FileObject& object) {
    const kube::Resource& resource = resources_.at(object.api_version + " " + object.kind);
    const kube::ObjectReply reply =
        client_->patch(resource, object.name_space, object.name, kube::PatchType::kApply, object.json, options);
    const std::lock_guard lock(mutex);
    if (reply.ok()) {
      ++outcome.applied;
      inventory_[key_of(object)].hash = hash_of(object);
    } else {
      outcome.faults.push_back(place_of(object) + reply.failure.text());
    }
  };
  for (auto from = objects.begin(); from != objects.end();) {
    const auto until = std::find_if(from, objects.end(), [&](const FileObject& o) { return o.rank != from->rank; });
    std::atomic<std::ptrdiff_t> next = 0;
    const std::ptrdiff_t count = until - from;
    const auto work = [&] {
      for (std::ptrdiff_t i = next++; i < count; i = next++) apply_one(from[i]);
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < std::min(kAtOnce, static_cast<std::size_t>(count)); ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    from = until;
  }
  std::ranges::sort(outcome.faults);
}

void Applier::prune(const controller::Update& update, const Inventory& wanted, Outcome& outcome) {
  bool changed = false;
  for (auto entry = inventory_.begin(); entry != inventory_.end();) {
    const Applied& object = entry->second;
    if (wanted.contains(entry->first) || update.at_fault.contains(object.file)) {
      ++entry;
      continue;
    }
    std::string fault;
    const auto resource = resource_of(object.api_version, object.kind, fault);
    bool gone = !resource && fault.empty();
    if (resource) {
      const kube::Reply reply = client_->remove(*resource, object.name_space, object.name);
      gone = reply.ok() || reply.failure.not_found();
      fault = reply.failure.text();
      outcome.pruned += reply.ok() ? 1 : 0;
    }
    if (!gone) {
      outcome.faults.push_back(object.kind + " " + object.name + " cannot be deleted: " + fault);
      ++entry;
      continue;
    }
    entry = inventory_.erase(entry);
    changed = true;
  }
  if (!changed) return;
  if (Status status = write_inventory(); !status) outcome.faults.push_back(status.error().text);
}

}  // namespace edge::standalone
