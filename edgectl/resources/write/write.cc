#include "edgectl/resources/write/write.h"

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/write/merge.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

/// Somebody else may be quicker, but not without end.
constexpr int kMostTries = 5;

const std::string& name_of(const Json& object) { return text_in(member_in(object, "metadata"), "name"); }

WriteResult result_of(kube::ObjectReply reply, std::string_view done) {
  return {.failure = std::move(reply.failure),
          .done = done,
          .object = std::move(reply.object),
          .warnings = std::move(reply.warnings)};
}

/// What a dry run by the client alone gives.
WriteResult unsent(const Json& object, const std::string& name_space, std::string_view done) {
  WriteResult result{.done = done};
  result.object.text = json_line(object);
  result.object.name = name_of(object);
  result.object.name_space = name_space;
  return result;
}

WriteResult merge(Cluster& cluster, const Type& type, const std::string& name_space, const Json& wanted,
                  const kube::Object& live, const WriteSettings& settings) {
  const Json there = parsed_json(live.text);
  const Json last = last_applied(there);
  const Json with_annotation = with_last_applied(wanted);
  const Json patch = three_way_patch(last, there, with_annotation);
  if (patch.empty()) return {.done = "unchanged", .object = live};
  if (settings.dry_run == DryRun::kClient) {
    Json merged = there;
    merged.merge_patch(patch);
    return unsent(merged, name_space, "configured");
  }
  auto result = result_of(cluster.api().patch(type.resource, name_space, live.name, kube::PatchType::kMerge,
                                              json_line(patch), settings.options()),
                          "configured");
  // The server may take a change for none: a default written out, a null where nothing is.
  if (result.failure.none() && result.object.resource_version == live.resource_version) result.done = "unchanged";
  if (last.empty()) {
    result.warnings.push_back(type.singular() + "/" + live.name +
                              " was not made by apply: from now on, fields that leave the file leave the object");
  }
  return result;
}

}  // namespace

kube::WriteOptions WriteSettings::options() const {
  return {.field_manager = field_manager,
          .force = force,
          .dry_run = dry_run == DryRun::kServer,
          .field_validation = field_validation};
}

WriteResult create_object(Cluster& cluster, const Type& type, const std::string& name_space, const Json& object,
                          const WriteSettings& settings) {
  if (settings.dry_run == DryRun::kClient) return unsent(object, name_space, "created");
  return result_of(cluster.api().create(type.resource, name_space, json_line(object), settings.options()), "created");
}

WriteResult apply_object(Cluster& cluster, const Type& type, const std::string& name_space, const Json& object,
                         const WriteSettings& settings) {
  const std::string name = name_of(object);
  if (settings.server_side) {
    if (settings.dry_run == DryRun::kClient) return unsent(object, name_space, "serverside-applied");
    return result_of(cluster.api().patch(type.resource, name_space, name, kube::PatchType::kApply, json_line(object),
                                         settings.options()),
                     "serverside-applied");
  }
  for (int tries = 0;; ++tries) {
    auto live = cluster.api().get(type.resource, name_space, name);
    WriteResult result;
    if (live.ok()) {
      result = merge(cluster, type, name_space, object, live.object, settings);
    } else if (live.failure.not_found()) {
      result = create_object(cluster, type, name_space, with_last_applied(object), settings);
    } else {
      return {.failure = std::move(live.failure)};
    }
    // Made, changed or removed by somebody between the two calls.
    const bool raced =
        result.failure.already_exists() || result.failure.conflict() || (live.ok() && result.failure.not_found());
    if (!raced || tries == kMostTries) return result;
  }
}

std::string done_text(const Type& type, const std::string& name, std::string_view done, DryRun dry_run) {
  const char* how = dry_run == DryRun::kClient ? " (dry run)" : dry_run == DryRun::kServer ? " (server dry run)" : "";
  return type.qualified(name) + " " + std::string(done) + how + "\n";
}

Written written(const Type& type, const kube::Object& object) {
  return {.type = type,
          .name_space = object.name_space,
          .name = object.name,
          .uid = object.uid,
          .resource_version = object.resource_version,
          .generation = object.generation};
}

}  // namespace edge::edgectl
