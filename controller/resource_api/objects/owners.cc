#include "controller/resource_api/objects/owners.h"

#include <algorithm>
#include <tuple>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/objects/apply.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

constexpr std::size_t kMaxUpdates = 10;
constexpr std::size_t kMaxManager = 128;

/// Owners of updates beyond the tenth, the oldest, are told as one.
void cap_updates(Owners& owners) {
  const auto is_update = [](const Owner& owner) { return !owner.applies && owner.subresource.empty(); };
  auto count = static_cast<std::size_t>(std::ranges::count_if(owners, is_update));
  if (count <= kMaxUpdates) return;
  std::ranges::stable_sort(owners, {}, [](const Owner& owner) { return owner.time; });
  Owner ancient;
  ancient.manager = "ancient-changes";
  for (auto at = owners.begin(); at != owners.end() && count >= kMaxUpdates;) {
    if (!is_update(*at)) {
      ++at;
      continue;
    }
    ancient.fields = ancient.fields.united(at->fields);
    ancient.time = at->time;
    ancient.api_version = at->api_version;
    at = owners.erase(at);
    --count;
  }
  owners.push_back(std::move(ancient));
}

}  // namespace

bool Owner::same_as(const Owner& other) const {
  return manager == other.manager && applies == other.applies && subresource == other.subresource &&
         (applies || api_version == other.api_version);
}

std::optional<Owners> read_owners(const Json& managed_fields) {
  Owners owners;
  if (managed_fields.is_null()) return owners;
  if (!managed_fields.is_array()) return std::nullopt;
  for (const Json& entry : managed_fields) {
    if (!entry.is_object()) return std::nullopt;
    Owner owner;
    const std::string_view operation = text_in(entry, "operation");
    if (operation != "Apply" && operation != "Update") return std::nullopt;
    owner.applies = operation == "Apply";
    owner.manager = text_in(entry, "manager");
    owner.api_version = text_in(entry, "apiVersion");
    owner.time = text_in(entry, "time");
    owner.subresource = text_in(entry, "subresource");
    const auto fields = entry.find("fieldsV1");
    if (fields == entry.end()) return std::nullopt;
    Answer<FieldSet> set = FieldSet::parse(*fields);
    if (!set) return std::nullopt;
    owner.fields = std::move(*set);
    owners.push_back(std::move(owner));
  }
  return owners;
}

Json owners_json(Owners owners) {
  std::erase_if(owners, [](const Owner& owner) { return owner.fields.empty(); });
  cap_updates(owners);
  std::ranges::stable_sort(owners, {}, [](const Owner& owner) {
    return std::tuple(!owner.applies, owner.time, owner.manager, owner.api_version, owner.subresource);
  });
  Json list = Json::array();
  for (const Owner& owner : owners) {
    Json entry = {{"operation", owner.applies ? "Apply" : "Update"},
                  {"apiVersion", owner.api_version},
                  {"fieldsType", "FieldsV1"},
                  {"fieldsV1", owner.fields.to_json()}};
    if (!owner.manager.empty()) entry["manager"] = owner.manager;
    if (!owner.time.empty()) entry["time"] = owner.time;
    if (!owner.subresource.empty()) entry["subresource"] = owner.subresource;
    list.push_back(std::move(entry));
  }
  return list;
}

std::string owner_text(const Owner& owner) {
  std::string text = in_quotes(owner.manager);
  if (!owner.subresource.empty()) text += words({" with subresource ", in_quotes(owner.subresource)});
  if (!owner.applies) text += words({" using ", owner.api_version});
  return text;
}

std::string manager_fault(std::string_view manager) {
  if (manager.size() > kMaxManager) return words({"may not be more than ", std::to_string(kMaxManager), " bytes"});
  const bool printable = std::ranges::all_of(manager, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
  return printable ? std::string() : "should only contain printable characters";
}

std::string manager_of(std::string_view user_agent) {
  std::string manager(user_agent.substr(0, user_agent.find('/')));
  std::erase_if(manager, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte >= 0x7f;
  });
  manager.resize(std::min(manager.size(), kMaxManager));
  return manager.empty() ? "unknown" : manager;
}

void validate_managed_fields(const Json& object, Causes& causes) {
  const auto meta = object.find("metadata");
  if (meta == object.end() || !meta->is_object()) return;
  const auto list = meta->find("managedFields");
  if (list == meta->end() || !list->is_array()) return;
  for (std::size_t i = 0; i < list->size() && causes.size() < kMaxCauses; ++i) {
    const Json& entry = (*list)[i];
    const std::string path = below("metadata.managedFields", i);
    if (!entry.is_object() || entry.empty()) continue;
    const std::string_view operation = text_in(entry, "operation");
    if (operation != "Apply" && operation != "Update") {
      causes.push_back(value_invalid(below(path, "operation"), operation, "must be `Apply` or `Update`"));
    }
    if (text_in(entry, "fieldsType") != "FieldsV1") {
      causes.push_back(value_invalid(below(path, "fieldsType"), text_in(entry, "fieldsType"), "must be `FieldsV1`"));
    }
    if (const std::string fault = manager_fault(text_in(entry, "manager")); !fault.empty()) {
      causes.push_back(value_invalid(below(path, "manager"), text_in(entry, "manager"), fault));
    }
  }
}

}  // namespace edge::resource_api::objects
