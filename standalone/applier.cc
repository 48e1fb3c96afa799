#include "standalone/applier.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/cluster_object.h"
#include "schemas/schema.h"

namespace edge::standalone {
namespace {

using Json = nlohmann::json;

constexpr const char* kManager = "edge-files";
/// Calls under way at a time: the API puts those that come together to disk together.
constexpr std::size_t kAtOnce = 16;
/// As many objects as are applied once more after a crash. Each writing of the inventory costs what all of it costs.
constexpr std::size_t kMostUnnoted = 100;
/// FileObject::rank of definitions of kinds: what stands before everything else.
constexpr int kDefinitions = 1;
constexpr std::size_t kMostRestoredTold = 20;

std::string place_of(const FileObject& object) {
  return object.file + ":" + std::to_string(object.line) + ": " + object.text() + ": ";
}

/// 0: none can be told.
std::uint64_t version_of(const std::string& text) {
  std::uint64_t version = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return 0;
    version = version * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return version;
}

/// Itself, or in a directory that is.
bool is_at_fault(const controller::Update& update, const std::string& file) {
  return std::ranges::any_of(update.at_fault,
                             [&](const auto& faulty) { return file == faulty.first || is_below(file, faulty.first); });
}

template <typename Work>
void for_each_at_once(std::size_t count, Work work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min(kAtOnce, count); ++i) threads.emplace_back(run);
  run();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

Result<std::unique_ptr<Applier>> Applier::create(kube::Config config, net::Loop* loop, std::string inventory,
                                                 std::string controller_class, const Logger& log) {
  auto client = kube::BlockingClient::make(std::move(config), {}, loop);
  if (!client) return client.error();
  std::unique_ptr<Applier> applier(new Applier(std::move(*client), std::move(inventory), std::move(controller_class)));
  if (Status status = applier->read_inventory(log); !status) return status.error();
  return applier;
}

std::vector<controller::ExtraDocument> Applier::denials() const {
  std::vector<controller::ExtraDocument> documents;
  for (const auto& [key, entry] : inventory_) {
    if (!entry.denied_for.empty()) documents.push_back(denial_of(entry.kind, entry.name_space, entry.name));
  }
  return documents;
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

controller::OtherDocuments Applier::others(const controller::Texts& texts) {
  controller::Update update;
  update.texts = texts;
  ApplyResult untold;
  bool all_known = true;
  std::set<std::string> own;
  for (const FileObject& object : objects_of(update, {}, untold, all_known)) own.insert(object.key());
  controller::OtherDocuments others;
  for (const schemas::Kind& kind : schemas::kinds()) {
    std::string fault;
    const auto resource = resource_of(std::string(kind.api_version), std::string(kind.kind), fault);
    if (!resource) continue;
    const kube::ListReply reply = client_->list_all(*resource, {});
    if (!reply.ok()) continue;
    for (const kube::Object& object : reply.list.items) {
      const ResourceId key{std::string(kind.kind), object.name_space, object.name};
      if (own.contains(key.text() + " " + resource->group)) continue;
      auto read = controller::read_cluster_object(object.text, controller_class_);
      if (read && *read) others[key.text()] = std::move((*read)->document);
    }
  }
  return others;
}

/// Files of which there is nothing to do: all of such a text was applied, and nothing of it is denied.
std::set<std::string> Applier::untouched(const controller::Update& update) const {
  std::set<std::string> files;
  for (const auto& [file, text] : update.texts) {
    const auto applied = applied_.find(file);
    if (applied != applied_.end() && applied->second == text) files.insert(file);
  }
  for (const auto& [key, entry] : inventory_) {
    if (!entry.denied_for.empty()) files.erase(entry.file);
  }
  return files;
}

/// With their namespaces; those of kinds that are not served are left out.
std::vector<FileObject> Applier::objects_of(const controller::Update& update, const std::set<std::string>& skip,
                                            ApplyResult& apply_result, bool& all_known) {
  std::vector<FileObject> objects;
  unserved_.clear();
  for (FileObject& object : reader_.read(update, skip)) {
    std::string fault;
    const auto resource = resource_of(object.api_version, object.kind, fault);
    if (!resource) {
      all_known &= fault.empty();
      if (!fault.empty()) apply_result.faults.push_back(place_of(object) + fault);
      if (fault.empty()) unserved_[{object.api_version, object.kind}].insert(object.file);
      continue;
    }
    if (resource->namespaced && object.name_space.empty()) object.name_space = "default";
    objects.push_back(std::move(object));
  }
  return objects;
}

bool Applier::is_refused(const FileObject& object) const {
  const auto refusal = refused_.find(object.key());
  return refusal != refused_.end() && refusal->second.hash == object.hash;
}

controller::Refusals Applier::check(const controller::Update& update) {
  if (update.texts.empty()) return {};
  confirm();
  look_for_missing();
  take_lost();
  ApplyResult apply_result;
  bool all_known = true;
  const std::set<std::string> skip = untouched(update);
  std::vector<FileObject> objects = objects_of(update, skip, apply_result, all_known);
  const auto defines = [](const FileObject& object) { return object.rank <= kDefinitions && !object.at_fault; };
  if (std::ranges::any_of(objects, defines)) {
    apply_definitions(objects, apply_result);
    objects = objects_of(update, skip, apply_result, all_known);
  }
  std::erase_if(objects, [this](const FileObject& object) {
    const auto known = inventory_.find(object.key());
    return object.at_fault || (known != inventory_.end() && known->second.hash == object.hash);
  });
  ensure_namespaces(objects, apply_result);
  try_all(objects);
  controller::Refusals refusals;
  for (const FileObject& object : objects) {
    if (is_refused(object)) refusals[object.file].push_back(object.begin);
  }
  return refusals;
}

/// Namespaces and kinds that the files define: what is of them cannot be tried before they are there.
void Applier::apply_definitions(const std::vector<FileObject>& objects, ApplyResult& apply_result) {
  std::vector<FileObject> definitions;
  for (const FileObject& object : objects) {
    if (object.rank > kDefinitions || object.at_fault) continue;
    Applied& known = inventory_[object.key()];
    if (known.hash == object.hash) continue;
    known = {object.api_version, object.kind, object.name_space, object.name, object.file,
             known.hash,         {},          known.content};
    declare(known);
    definitions.push_back(object);
  }
  if (definitions.empty()) return;
  // Noted first: what is applied and then forgotten would never be pruned.
  note(apply_result);
  apply_all(definitions, apply_result);
  // What a kind refused its next definition may take.
  std::erase_if(refused_, [](const auto& refusal) { return refusal.second.tried; });
  if (unserved_.empty()) return;
  const kube::DiscoveryReply discovered = client_->discover();
  for (const auto& [kind, files] : unserved_) {
    const kube::Resource* resource = discovered.table.find_kind(kind.first, kind.second);
    if (resource != nullptr) resources_.emplace(kind.first + " " + kind.second, *resource);
  }
}

/// Files name namespaces without saying that they exist.
void Applier::ensure_namespaces(const std::vector<FileObject>& objects, ApplyResult& apply_result) {
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
      apply_result.faults.push_back("namespace " + name + ": " + reply.failure.text());
    }
  }
}

/// Asks the API about each without a write. What it refused before in the same words is refused still.
void Applier::try_all(const std::vector<FileObject>& objects) {
  const kube::WriteOptions options{.field_manager = kManager, .force = true, .dry_run = true};
  std::mutex mutex;
  for_each_at_once(objects.size(), [&](std::size_t i) {
    const FileObject& object = objects[i];
    if (is_refused(object)) return;
    const kube::Resource& resource = resources_.at(object.api_version + " " + object.kind);
    const kube::ObjectReply reply =
        client_->patch(resource, object.name_space, object.name, kube::PatchType::kApply, object.json, options);
    const std::lock_guard lock(mutex);
    if (reply.ok()) {
      refused_.erase(object.key());
    } else {
      refused_[object.key()] = {object.hash, reply.failure.text(), true};
    }
  });
}

/// Rank by rank: what others refer to stands first.
void Applier::apply_all(const std::vector<FileObject>& objects, ApplyResult& apply_result) {
  const kube::WriteOptions options{.field_manager = kManager, .force = true};
  std::mutex mutex;
  const auto apply_one = [&](const FileObject& object) {
    const kube::Resource& resource = resources_.at(object.api_version + " " + object.kind);
    const kube::ObjectReply reply =
        client_->patch(resource, object.name_space, object.name, kube::PatchType::kApply, object.json, options);
    const std::uint64_t content = reply.ok() ? content_hash(reply.object.text) : 0;
    const std::lock_guard lock(mutex);
    if (reply.ok()) {
      ++apply_result.applied;
      Applied& entry = inventory_[object.key()];
      entry.hash = object.hash;
      entry.content = content;
      ++unnoted_;
      apply_result.writes.push_back({.group = resource.group,
                                     .key = {object.kind, object.name_space, object.name},
                                     .version = version_of(reply.object.resource_version)});
    } else {
      files_[object.file] = false;
      refused_[object.key()] = {object.hash, reply.failure.text()};
    }
  };
  for (auto from = objects.begin(); from != objects.end();) {
    const auto until = std::find_if(from, objects.end(), [&](const FileObject& o) { return o.rank != from->rank; });
    for_each_at_once(static_cast<std::size_t>(until - from),
                     [&](std::size_t i) { apply_one(from[static_cast<std::ptrdiff_t>(i)]); });
    from = until;
  }
}

/// What the API has under its name, of a file or of somebody else's; empty: nothing.
std::string Applier::in_api(const FileObject& object) {
  std::string fault;
  const auto resource = resource_of(object.api_version, object.kind, fault);
  if (!resource) return {};
  kube::ObjectReply reply = client_->get(*resource, object.name_space, object.name);
  return reply.ok() ? std::move(reply.object.text) : std::string();
}

/// Each file at fault, with what can be read of it.
std::map<std::string, FaultyDocuments> Applier::faulty_documents(const controller::Update& update) {
  std::map<std::string, FaultyDocuments> all;
  for (const auto& [file, faulty] : update.at_fault) {
    FaultyDocuments& documents = all[file] = FileReader::read_faulty(file, faulty);
    for (FileObject& object : documents.at_fault) {
      std::string fault;
      const auto resource = resource_of(object.api_version, object.kind, fault);
      if (resource && resource->namespaced && object.name_space.empty()) object.name_space = "default";
    }
  }
  return all;
}

/// Notes an object of the files. \returns whether that is to be kept on disk.
bool Applier::want(const FileObject& object, std::set<std::string>& fresh) {
  const std::string key = object.key();
  const auto [known, is_new] = inventory_.try_emplace(key);
  Applied& entry = known->second;
  if (is_new) fresh.insert(key);
  const bool noted = is_new || entry.file != object.file;
  entry = {object.api_version, object.kind, object.name_space, object.name,
           object.file,        entry.hash,  entry.denied_for,  entry.content};
  if (is_new) declare(entry);
  return noted;
}

Applier::ApplyResult Applier::apply(const controller::Update& update) {
  ApplyResult apply_result;
  // Files that cannot be read, or a directory that is empty for a moment, are no wish to lose everything.
  if (update.texts.empty()) return apply_result;
  bool all_known = true;
  std::vector<FileObject> objects;
  std::vector<FileObject> changed;
  std::set<std::string> fresh;
  std::set<std::string> wanted;
  const std::set<std::string> skip = untouched(update);
  bool noted = false;
  for (FileObject& object : objects_of(update, skip, apply_result, all_known)) {
    // Less what the API does not know, which it leaves out without a word, it might say something else.
    if (object.at_fault) continue;
    noted |= want(object, fresh);
    wanted.insert(object.key());
    if (inventory_.at(object.key()).hash != object.hash) changed.push_back(object);
    objects.push_back(std::move(object));
  }
  const std::map<std::string, bool> files_before = files_;
  const std::map<std::string, FaultyDocuments> faulty_files = faulty_documents(update);
  noted |= deny_what_is_unprotected(update, faulty_files, objects, fresh, apply_result);
  // What could not be looked up is missing among what is wanted.
  const auto leaving = all_known ? unwanted(update, wanted, skip) : std::vector<Inventory::iterator>();
  note_files(update, changed, leaving);
  // Noted first: what is applied and then forgotten would never be pruned, nor denied after a restart.
  if (noted || files_ != files_before) note(apply_result);
  ensure_namespaces(changed, apply_result);
  apply_all(changed, apply_result);
  tell_restored(changed, apply_result);
  const std::size_t kept = inventory_.size();
  prune(leaving, apply_result);
  const std::map<std::string, bool> applying = files_;
  for (auto file = files_.begin(); file != files_.end();) {
    const bool gone = !update.texts.contains(file->first) && !is_at_fault(update, file->first);
    file = gone ? files_.erase(file) : std::next(file);
  }
  std::set<std::string> refused;
  for (const FileObject& object : changed) {
    if (is_refused(object)) refused.insert(object.file);
  }
  // What is not served now may be later.
  std::set<std::string> passed_over;
  for (const auto& [kind, files] : unserved_) passed_over.insert(files.begin(), files.end());
  applied_.clear();
  for (const auto& [file, text] : update.texts) {
    const auto faulty = update.at_fault.find(file);
    const bool sound = faulty == update.at_fault.end() || faulty->second.held;
    files_[file] = sound && !refused.contains(file);
    if (files_[file] && all_known && !passed_over.contains(file)) applied_.emplace(file, text);
  }
  if (files_ != applying || inventory_.size() != kept || unnoted_ > kMostUnnoted) note(apply_result);

  std::set<std::string> faults = what_is_wrong(changed, faulty_files);
  faults.insert(apply_result.faults.begin(), apply_result.faults.end());
  tell(std::move(faults), apply_result);
  return apply_result;
}

std::set<std::string> Applier::what_is_wrong(const std::vector<FileObject>& changed,
                                             const std::map<std::string, FaultyDocuments>& faulty_files) const {
  std::set<std::string> faults;
  for (const auto& [file, documents] : faulty_files) {
    for (const FileObject& object : documents.at_fault) {
      if (is_refused(object)) faults.insert(place_of(object) + refused_.at(object.key()).why);
    }
  }
  for (const FileObject& object : changed) {
    if (is_refused(object)) faults.insert(place_of(object) + refused_.at(object.key()).why);
  }
  for (const auto& [key, entry] : inventory_) {
    if (entry.denied_for.empty()) continue;
    faults.insert(key.substr(0, key.rfind(' ')) + " answers 503: what " + entry.denied_for +
                  " was to protect it by is at fault");
  }
  return faults;
}

/// Until all of it is applied a file of several changes counts as one that the API does not have whole.
void Applier::note_files(const controller::Update& update, const std::vector<FileObject>& changed,
                         const std::vector<Inventory::iterator>& leaving) {
  std::map<std::string, std::size_t> changes;
  for (const FileObject& object : changed) ++changes[object.file];
  for (const auto& entry : leaving) ++changes[entry->second.file];
  for (const auto& [file, text] : update.texts) files_.emplace(file, false);
  for (const auto& [file, faulty] : update.at_fault) files_.emplace(file, false);
  for (const auto& [file, count] : changes) {
    if (count > 1) files_[file] = false;
  }
}

bool Applier::deny_what_is_unprotected(const controller::Update& update,
                                       const std::map<std::string, FaultyDocuments>& faulty_files,
                                       const std::vector<FileObject>& objects, const std::set<std::string>& fresh,
                                       ApplyResult& apply_result) {
  std::vector<RefusedDocument> refused;
  std::vector<UnreadableFile> unreadable;
  for (const auto& [file, documents] : faulty_files) {
    const bool held = update.at_fault.at(file).held;
    const bool first = !files_.contains(file);
    if (documents.unreadable && !held) unreadable.push_back({file, first});
    for (const FileObject& object : documents.at_fault) {
      refused.push_back({object, held, first, held ? std::string() : in_api(object)});
    }
  }
  std::vector<ProtectedObject> protectable;
  for (const FileObject& object : objects) {
    if (!is_route(object.kind) && !is_gateway(object.kind)) continue;
    protectable.push_back({&object, fresh.contains(object.key()), inventory_.at(object.key()).denied_for});
  }
  apply_result.denials = deny(refused, unreadable, protectable);
  bool changed = false;
  for (const ProtectedObject& object : protectable) {
    std::string& denied_for = inventory_.at(object.object->key()).denied_for;
    changed |= denied_for != object.denied_for;
    denied_for = object.denied_for;
  }
  return changed;
}

std::vector<Applier::Inventory::iterator> Applier::unwanted(const controller::Update& update,
                                                            const std::set<std::string>& wanted,
                                                            const std::set<std::string>& untouched) {
  std::vector<Inventory::iterator> entries;
  for (auto entry = inventory_.begin(); entry != inventory_.end(); ++entry) {
    const std::string& file = entry->second.file;
    if (!wanted.contains(entry->first) && !untouched.contains(file) && !is_at_fault(update, file)) {
      entries.push_back(entry);
    }
  }
  return entries;
}

void Applier::prune(const std::vector<Inventory::iterator>& unwanted, ApplyResult& apply_result) {
  struct Removal {
    std::optional<kube::Resource> resource;
    std::string fault;
    bool gone = false;   ///< from the files' point of view: deleted, or asked to go
    bool there = false;  ///< it was in the API until now
    bool stays = false;  ///< until its finalizers are through
  };
  std::vector<Removal> removals(unwanted.size());
  for (std::size_t i = 0; i < unwanted.size(); ++i) {
    const Applied& object = unwanted[i]->second;
    Removal& removal = removals[i];
    removal.resource = resource_of(object.api_version, object.kind, removal.fault);
    removal.gone = !removal.resource && removal.fault.empty();
    if (removal.resource) withdraw(object);
  }
  for_each_at_once(unwanted.size(), [&](std::size_t i) {
    Removal& removal = removals[i];
    if (!removal.resource) return;
    const Applied& object = unwanted[i]->second;
    const kube::Reply reply = client_->remove(*removal.resource, object.name_space, object.name);
    removal.there = reply.ok();
    removal.gone = reply.ok() || reply.failure.not_found();
    removal.fault = reply.failure.text();
    const Json left = reply.ok() ? parse_json(reply.body) : Json();
    removal.stays = !list_in(member_in(left, "metadata"), "finalizers").empty();
  });
  for (std::size_t i = 0; i < unwanted.size(); ++i) {
    const Applied& object = unwanted[i]->second;
    const Removal& removal = removals[i];
    if (!removal.gone) {
      apply_result.faults.push_back(object.kind + " " + object.name + " cannot be deleted: " + removal.fault);
      continue;
    }
    apply_result.pruned += removal.there ? 1 : 0;
    if (removal.there && !removal.stays) {
      apply_result.writes.push_back(
          {.group = removal.resource->group, .key = {object.kind, object.name_space, object.name}, .gone = true});
    }
    refused_.erase(unwanted[i]->first);
    inventory_.erase(unwanted[i]);
  }
}

void Applier::tell_restored(const std::vector<FileObject>& changed, ApplyResult& apply_result) {
  std::size_t count = 0;
  for (const FileObject& object : changed) {
    if (is_refused(object) || missing_.erase(object.key()) == 0 || ++count > kMostRestoredTold) continue;
    apply_result.restored.push_back(object.text() + " was deleted and is made again: " + object.file + " declares it");
  }
  if (count <= kMostRestoredTold) return;
  apply_result.restored.push_back("so are " + std::to_string(count - kMostRestoredTold) + " more");
}

void Applier::tell(std::set<std::string> faults, ApplyResult& apply_result) {
  apply_result.faults.clear();
  apply_result.clean = faults.empty();
  std::ranges::set_difference(faults, told_, std::back_inserter(apply_result.faults));
  told_ = std::move(faults);
}

}  // namespace edge::standalone
