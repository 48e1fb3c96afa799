// What a ProgramBuilder is given beside documents, and gives beside programs: addresses of pools, bodies of ConfigMaps,
// endpoints and the values of secrets.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/reconcile/program_builder.h"
#include "program/sha256.h"

namespace edge::controller {

/// With what is compiled for another reason: alone they would change nothing.
void ProgramBuilder::add_given_addresses(const Tried& tried, std::vector<compiler::DocumentEdit>& documents) {
  for (auto& [name, text] : pools_.take_changed()) {
    const auto known = objects_.find(name);
    if (known == objects_.end() || known->second.held || tried.contains(name)) continue;
    known->second.document = program::sha256(std::as_bytes(std::span(text)));
    documents.push_back({name, std::move(text)});
  }
}

/// Other values of ConfigMaps are named now, or a ConfigMap came in the same batch as what names it.
void ProgramBuilder::add_named_bodies(std::vector<compiler::DocumentEdit>& documents, Tried& tried) {
  for (auto& [name, given] : bodies_.take_changed()) {
    const auto known = objects_.find(name);
    if (known == objects_.end()) continue;
    std::string text = values_.put(known->second.object.key.kind, name, given).value_or(std::string());
    known->second.document = program::sha256(std::as_bytes(std::span(text)));
    std::erase_if(documents, [&](const compiler::DocumentEdit& present) { return present.document == name; });
    documents.push_back({name, text});
    tried[name] = std::move(text);
  }
}

/// Those of which the version in force may be another after a compile.
std::vector<std::string> ProgramBuilder::naming_objects(const Tried& tried) const {
  std::vector<std::string> objects;
  const auto add = [&](const auto& by_name) {
    for (const auto& [name, unused] : by_name) {
      if (BodyMemory::may_name(std::string_view(name).substr(0, name.find(' ')))) objects.push_back(name);
    }
  };
  add(tried);
  add(unsettled_);
  return objects;
}

/// The values that only older versions of them named are none that are kept or compiled.
void ProgramBuilder::name_versions_in_force(const std::vector<std::string>& objects) {
  for (const std::string& name : objects) {
    const auto known = objects_.find(name);
    if (known == objects_.end()) continue;
    const auto before = unsettled_.find(name);
    bodies_.name_values(name, NamingVersion::kSound, known->second.sound);
    bodies_.name_values(name, NamingVersion::kBefore,
                        before == unsettled_.end() ? std::string_view() : before->second.text);
  }
}

/// What names a value that was not kept would be refused for the moment until it is read again: the version in force
/// stays meanwhile. Without one it is compiled, which denies what it protects.
/// \returns whether it was put off, in place of an edit of before.
bool ProgramBuilder::put_off(ObjectEdit& edit) {
  if (!BodyMemory::may_name(edit.key.kind)) return false;
  const std::string name = edit.key.text();
  put_off_.erase(name);
  const auto known = objects_.find(name);
  if (!edit.object || known == objects_.end() || known->second.object.uid != edit.object->uid) return false;
  if (!bodies_.awaits_values(name)) return false;
  put_off_.emplace(name, std::move(edit));
  return true;
}

void ProgramBuilder::take_put_off(std::vector<compiler::DocumentEdit>& documents, Tried& tried,
                                  ReconcileResult& result) {
  for (auto at = put_off_.begin(); at != put_off_.end();) {
    if (bodies_.awaits_values(at->first)) {
      ++at;
      continue;
    }
    take(std::move(at->second), documents, tried, result);
    at = put_off_.erase(at);
  }
}

std::vector<ResourceId> ProgramBuilder::take_wanted() {
  std::vector<ResourceId> wanted;
  for (const std::string& name : bodies_.take_wanted()) {
    if (const auto known = objects_.find(name); known != objects_.end()) wanted.push_back(known->second.object.key);
  }
  return wanted;
}

/// What came makes no difference to the program.
std::optional<ReconcileResult> ProgramBuilder::values_alone(ReconcileResult result) {
  give_values(result);
  if (values_.take_ordered_changed() && program_ != nullptr) result.certificates = values_.ordered();
  if (!result.values_changed && !result.exports && result.certificates == nullptr) return std::nullopt;
  result.program = program_;
  result.group_programs = group_programs_;
  result.hash = hash_;
  result.lacks_databases = lacks_databases_;
  result.number = number_;
  return result;
}

void ProgramBuilder::give_values(ReconcileResult& result) {
  result.values = values_.values();
  result.values_changed = values_.take_changed();
  if (values_.take_exports_changed()) result.exports = values_.own_exports();
  for (const auto& [name_space, name] : values_.take_changed_backends()) {
    stale_statuses_.insert(resource_text("ProxyBackend", name_space, name));
  }
}

}  // namespace edge::controller
