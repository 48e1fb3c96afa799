// The applier's inventory: the objects that came from files, on disk and compared with the API.
#include <algorithm>
#include <mutex>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/os/file.h"
#include "base/text/json.h"
#include "schemas/schema.h"
#include "standalone/applier.h"

namespace edge::standalone {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxInventoryBytes = std::size_t{256} << 20;
constexpr std::string_view kNamespace = "Namespace";

std::uint64_t number_in(const Json& object, const char* name) {
  const Json& number = member_in(object, name);
  return number.is_number_unsigned() ? number.get<std::uint64_t>() : 0;
}

std::string key_of(const std::string& api_version, const std::string& kind, const kube::Object& object) {
  FileObject named;
  named.api_version = api_version;
  named.kind = kind;
  named.name_space = object.name_space;
  named.name = object.name;
  return named.key();
}

/// By the controller, which tells what is deleted.
bool is_followed(std::string_view api_version, std::string_view kind) {
  return std::ranges::any_of(schemas::kinds(), [&](const schemas::Kind& other) {
    return other.kind == kind && other.api_version == api_version;
  });
}

}  // namespace

Status Applier::read_inventory(const Logger& log) {
  const auto content = read_file(path_, kMaxInventoryBytes);
  if (!content) return content.error().code == ErrorCode::kNotFound ? Status() : Status(content.error());
  const Json json = parse_json(*content);
  if (!json.is_object()) {
    const auto aside = set_aside(path_);
    if (!aside) return aside.error();
    log.warn("the inventory of applied files cannot be read: it is renamed to " + *aside +
             "; an object removed from the files since then stays until it is deleted by hand");
    return {};
  }
  // Once it was the objects alone.
  const bool objects_alone = !json.contains("objects");
  for (const auto& [key, entry] : (objects_alone ? json : member_in(json, "objects")).items()) {
    if (!entry.is_object()) continue;
    inventory_[key] = {text_in(entry, "apiVersion"), text_in(entry, "kind"), text_in(entry, "namespace"),
                       text_in(entry, "name"),       text_in(entry, "file"), 0,
                       text_in(entry, "deniedFor")};
    Applied& applied = before_[key] = inventory_[key];
    applied.hash = number_in(entry, "hash");
    applied.content = number_in(entry, "content");
    declare(applied);
    if (objects_alone) files_[text_in(entry, "file")] = true;
  }
  if (objects_alone) return {};
  for (const auto& [file, sound] : member_in(json, "files").items()) files_[file] = sound == true;
  return {};
}

Applier::~Applier() {
  // What stands there is true; it is only less than is known.
  if (unnoted_ > 0) static_cast<void>(write_inventory().ok());
}

Status Applier::write_inventory() {
  Json objects = Json::object();
  for (const auto& [key, entry] : inventory_) {
    Json& written = objects[key] = {{"apiVersion", entry.api_version},
                                    {"kind", entry.kind},
                                    {"namespace", entry.name_space},
                                    {"name", entry.name},
                                    {"file", entry.file}};
    if (!entry.denied_for.empty()) written["deniedFor"] = entry.denied_for;
    if (entry.hash != 0) written.update({{"hash", entry.hash}, {"content", entry.content}});
  }
  const std::string content = indented_json(Json({{"files", files_}, {"objects", std::move(objects)}}), 1);
  unnoted_ = 0;
  return write_file(path_, std::string_view(content), FileAccess::kOwnerOnly);
}

void Applier::note(ApplyResult& apply_result) {
  if (Status status = write_inventory(); !status) apply_result.faults.push_back(status.error().text);
}

/// What the run before applied, and the API has as it was then, needs no more than one look at each kind.
void Applier::confirm() {
  const Inventory before = std::exchange(before_, {});
  std::set<std::pair<std::string, std::string>> kinds;
  for (const auto& [key, applied] : before) {
    if (applied.hash != 0) kinds.emplace(applied.api_version, applied.kind);
  }
  for (const auto& [api_version, kind] : kinds) {
    std::string fault;
    const auto resource = resource_of(api_version, kind, fault);
    if (!resource) continue;
    const kube::ListReply reply = client_->list_all(*resource, {});
    if (!reply.ok()) continue;
    for (const kube::Object& object : reply.list.items) {
      const std::string key = key_of(api_version, kind, object);
      const auto applied = before.find(key);
      if (applied == before.end() || applied->second.content != content_hash(object.text)) continue;
      Applied& known = inventory_.at(key);
      known.hash = applied->second.hash;
      known.content = applied->second.content;
    }
  }
}

bool Applier::complete() {
  if (files_.empty() || !std::ranges::all_of(files_, [](const auto& file) { return file.second; })) return false;
  // Programs made before that would serve what is denied: the API has no object that says so.
  if (!denials().empty()) return false;
  // The API's own data may have been lost beside the files' inventory: one look at each kind.
  std::set<std::string> looked_at;
  for (const auto& [key, entry] : inventory_) {
    if (!looked_at.insert(entry.api_version + " " + entry.kind).second) continue;
    std::string fault;
    const auto resource = resource_of(entry.api_version, entry.kind, fault);
    if (!resource || !client_->get(*resource, entry.name_space, entry.name).ok()) return false;
  }
  return true;
}

bool Applier::kept(const std::string& file) const {
  bool any = false;
  for (auto known = files_.lower_bound(file); known != files_.end() && known->first.starts_with(file); ++known) {
    if (known->first != file && !is_below(known->first, file)) continue;
    if (!known->second) return false;
    any = true;
  }
  return any;
}

bool Applier::lost(const ResourceId& key) {
  const std::lock_guard lock(lost_mutex_);
  bool declared = declared_.contains(key.text());
  if (!declared && key.kind == kNamespace) {
    declared = std::ranges::any_of(declared_, [&](const auto& object) { return object.second == key.name; });
  }
  if (declared) lost_.push_back(key);
  return declared;
}

/// From now on the API tells of it by `lost`.
void Applier::declare(const Applied& object) {
  const std::lock_guard lock(lost_mutex_);
  declared_[resource_text(object.kind, object.name_space, object.name)] = object.name_space;
}

void Applier::withdraw(const Applied& object) {
  const std::lock_guard lock(lost_mutex_);
  declared_.erase(resource_text(object.kind, object.name_space, object.name));
}

/// What was applied is to be applied again.
void Applier::lose(const std::string& key) {
  const auto known = inventory_.find(key);
  if (known == inventory_.end()) return;
  known->second.hash = 0;
  applied_.erase(known->second.file);
  // In a namespace that was ending it was refused.
  refused_.erase(key);
  missing_.insert(key);
}

void Applier::take_lost() {
  std::vector<ResourceId> lost;
  {
    const std::lock_guard lock(lost_mutex_);
    lost = std::exchange(lost_, {});
  }
  for (const ResourceId& object : lost) {
    std::vector<std::string> keys;
    const std::string prefix = object.text() + " ";
    for (const auto& [key, entry] : inventory_) {
      const bool inside = object.kind == kNamespace && entry.name_space == object.name;
      if (inside || key.starts_with(prefix)) keys.push_back(key);
    }
    for (const std::string& key : keys) lose(key);
  }
}

/// Of kinds that nobody follows the API tells nothing: they are looked at with each update.
void Applier::look_for_missing() {
  std::map<std::pair<std::string, std::string>, std::set<std::string>> by_kind;
  for (const auto& [key, entry] : inventory_) {
    if (entry.hash != 0 && !is_followed(entry.api_version, entry.kind))
      by_kind[{entry.api_version, entry.kind}].insert(key);
  }
  for (auto& [kind, keys] : by_kind) {
    std::string fault;
    const auto resource = resource_of(kind.first, kind.second, fault);
    if (!resource) continue;
    const kube::ListReply reply = client_->list_all(*resource, {});
    if (!reply.ok()) continue;
    for (const kube::Object& object : reply.list.items) keys.erase(key_of(kind.first, kind.second, object));
    for (const std::string& key : keys) lose(key);
  }
}

}  // namespace edge::standalone
