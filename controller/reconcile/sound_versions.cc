#include "controller/reconcile/sound_versions.h"

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;

const std::string* text(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

}  // namespace

std::string write_sound_versions(const SoundVersions& versions) {
  Json all = Json::object();
  for (const auto& [resource, version] : versions) {
    all[resource] = {{"uid", version.uid}, {"generation", version.generation}, {"document", version.document}};
  }
  return json_line(all);
}

Result<SoundVersions> read_sound_versions(std::string_view json) {
  const Json all = parse_json(json);
  if (!all.is_object()) return Error{ErrorCode::kDataLoss, "the sound versions are no JSON object"};
  SoundVersions versions;
  for (const auto& [resource, entry] : all.items()) {
    if (!entry.is_object()) return Error{ErrorCode::kDataLoss, "a sound version is no JSON object"};
    const std::string* uid = text(entry, "uid");
    const std::string* document = text(entry, "document");
    const auto generation = entry.find("generation");
    if (uid == nullptr || document == nullptr || generation == entry.end() || !generation->is_number_integer()) {
      return Error{ErrorCode::kDataLoss, "a sound version lacks a field"};
    }
    versions[resource] = {*uid, generation->get<std::int64_t>(), *document};
  }
  return versions;
}

}  // namespace edge::controller
