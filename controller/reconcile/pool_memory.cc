#include "controller/reconcile/pool_memory.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/resource_id.h"
#include "base/text/json.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;

}  // namespace

std::string PoolMemory::with_given(const Vip& vip) {
  Json document = parse_json(vip.document);
  if (vip.given.empty() || !document.is_object()) return vip.document;
  std::set<std::string> known;
  Json allocations = list_in(member_in(document, "status"), "allocations");
  for (const Json& one : allocations) known.insert(text_in(one, "address"));
  const std::size_t before = allocations.size();
  for (const compiler::PoolUse& one : vip.given) {
    if (known.contains(one.address)) continue;
    allocations.push_back(
        {{"address", one.address}, {"kind", one.kind}, {"namespace", one.name_space}, {"name", one.name}});
  }
  if (allocations.size() == before) return vip.document;
  document["status"]["allocations"] = std::move(allocations);
  return json_line(document);
}

std::string PoolMemory::put(const std::string& name, std::string document) {
  const Json read = parse_json(document);
  if (!member_in(member_in(read, "spec"), "pool").is_array()) {
    remove(name);
    return document;
  }
  Vip& vip = vips_[name];
  vip.document = std::move(document);
  vip.compiled = with_given(vip);
  changed_.erase(name);
  return vip.compiled;
}

void PoolMemory::remove(const std::string& name) {
  vips_.erase(name);
  changed_.erase(name);
}

void PoolMemory::note(const std::vector<compiler::ResourceStatus>& statuses) {
  if (vips_.empty()) return;
  for (const compiler::ResourceStatus& status : statuses) {
    if (!status.allocations) continue;
    const std::string name = resource_text(status.kind, status.name_space, status.name);
    const auto vip = vips_.find(name);
    if (vip == vips_.end() || vip->second.given == *status.allocations) continue;
    vip->second.given = *status.allocations;
    changed_.insert(name);
  }
}

std::map<std::string, std::string> PoolMemory::take_changed() {
  std::map<std::string, std::string> changed;
  for (const std::string& name : std::exchange(changed_, {})) {
    Vip& vip = vips_.at(name);
    std::string compiled = with_given(vip);
    if (compiled == vip.compiled) continue;
    vip.compiled = compiled;
    changed.emplace(name, std::move(compiled));
  }
  return changed;
}

}  // namespace edge::controller
