#include "controller/resource_api/requests/remove.h"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/builtin_kinds.h"
#include "controller/resource_api/crds.h"
#include "controller/resource_api/requests/body.h"
#include "controller/resource_api/requests/read.h"
#include "controller/resource_api/requests/render.h"

namespace edge::resource_api {
namespace {

using objects::Answer;
using objects::Json;

std::optional<Propagation> propagation_of(std::string_view word) {
  if (word == "Background") return Propagation::kBackground;
  if (word == "Foreground") return Propagation::kForeground;
  if (word == "Orphan") return Propagation::kOrphan;
  return std::nullopt;
}

objects::StatusError invalid_options(objects::Cause cause) {
  return objects::invalid({"meta.k8s.io", "", "DeleteOptions"}, "", {std::move(cause)});
}

/// The finalizers by which the garbage collector is told; the others stay as they are.
void set_propagation(Json& metadata, Propagation propagation) {
  Json& finalizers = metadata["finalizers"];
  if (!finalizers.is_array()) finalizers = Json::array();
  if (propagation != Propagation::kUnset) {
    std::erase_if(finalizers.get_ref<Json::array_t&>(),
                  [](const Json& name) { return name == kForegroundFinalizer || name == kOrphanFinalizer; });
  }
  if (propagation == Propagation::kForeground) finalizers.push_back(kForegroundFinalizer);
  if (propagation == Propagation::kOrphan) finalizers.push_back(kOrphanFinalizer);
  if (finalizers.empty()) metadata.erase("finalizers");
}

}  // namespace

ObjectPtr remove_object(Changes& changes, const Collection& collection, const Object& object, Propagation propagation) {
  Json value = Json::parse(object.text, nullptr, false);
  Json& metadata = value["metadata"];
  const Json before = metadata.value("finalizers", Json());
  set_propagation(metadata, propagation);
  if (!object.deleting && collection.name == kCustomResourceDefinitions) {
    // A client may have written the definition without it; the objects are to go before their definition all the same.
    Json& finalizers = metadata["finalizers"];
    if (!finalizers.is_array()) finalizers = Json::array();
    if (std::find(finalizers.begin(), finalizers.end(), kCrdFinalizer) == finalizers.end()) {
      finalizers.push_back(kCrdFinalizer);
    }
  }
  if (object.deleting && metadata.value("finalizers", Json()) == before) {
    return changes.store().find(collection, object.key);
  }
  if (!object.deleting && !is_free(value, collection)) {
    metadata["deletionTimestamp"] = changes.time();
    metadata["deletionGracePeriodSeconds"] = 0;
    const Json generation = metadata.value("generation", Json());
    if (generation.is_number_integer()) metadata["generation"] = generation.get<std::int64_t>() + 1;
    if (collection.name == kNamespaces) value["status"]["phase"] = "Terminating";
    return changes.put(collection, std::move(value));
  }
  if (!is_free(value, collection)) return changes.put(collection, std::move(value));
  changes.remove(collection, object.key);
  return nullptr;
}

Answer<Remover::Options> Remover::read_options(const Operation& op, const ApiRequest& request) {
  Options options;
  options.dry_run = op.dry_run;
  Json body = Json::object();
  if (!request.body.empty()) {
    std::vector<std::string> duplicates;
    auto read = read_body(request.content_type, request.body, duplicates);
    if (!read) return read.error();
    if (!read->is_object()) return objects::bad_request("the body of a delete must be DeleteOptions");
    body = std::move(*read);
  }
  std::string policy = text_in(body, "propagationPolicy");
  if (const std::string* given = parameter(request, "propagationPolicy")) policy = *given;
  const auto orphan = body.find("orphanDependents");
  const bool orphan_given = orphan != body.end() && orphan->is_boolean();
  if (!policy.empty() && orphan_given) {
    return invalid_options(objects::value_invalid("propagationPolicy", policy,
                                                  "orphanDependents and deletionPropagation cannot be both set"));
  }
  if (!policy.empty()) {
    const auto propagation = propagation_of(policy);
    if (!propagation) {
      return invalid_options(
          objects::value_not_supported("propagationPolicy", policy, {"Foreground", "Background", "Orphan", "nil"}));
    }
    options.propagation = *propagation;
  } else if (orphan_given) {
    options.propagation = orphan->get<bool>() ? Propagation::kOrphan : Propagation::kBackground;
  }
  if (const auto dry_run = body.find("dryRun"); dry_run != body.end() && dry_run->is_array() && !dry_run->empty()) {
    if (dry_run->size() != 1 || (*dry_run)[0] != "All") {
      return invalid_options(objects::value_not_supported("dryRun", *dry_run, {"All"}));
    }
    options.dry_run = true;
  }
  if (const auto conditions = body.find("preconditions"); conditions != body.end() && conditions->is_object()) {
    options.uid = text_in(*conditions, "uid");
    options.version = text_in(*conditions, "resourceVersion");
  }
  return options;
}

Remover::Fault Remover::refuse(const Operation& op, const Object& object, const Options& options) const {
  const std::string& name = object.key.name;
  const std::string version = std::to_string(object.version);
  if (!options.uid.empty() && options.uid != object.uid) {
    return objects::conflict(
        op.subject(), name,
        "Precondition failed: UID in precondition: " + options.uid + ", UID in object meta: " + object.uid);
  }
  if (!options.version.empty() && options.version != version) {
    return objects::conflict(op.subject(), name,
                             "Precondition failed: ResourceVersion in precondition: " + options.version +
                                 ", ResourceVersion in object meta: " + version);
  }
  if (op.type->collection == kNamespaces && (name == "default" || name == "kube-system")) {
    return objects::forbidden_because(op.subject(), name, "this namespace may not be deleted");
  }
  return std::nullopt;
}

ApiReply Remover::remove(const Operation& op, const ApiRequest& request) {
  const auto options = read_options(op, request);
  if (!options) return reply_of(options.error());
  const Collection& collection = changes_.store().collection(op.type->collection);
  const ObjectPtr object = changes_.store().find(collection, {op.name_space, op.name});
  if (!object) return reply_of(objects::not_found(op.subject(), op.name));
  if (Fault fault = refuse(op, *object, *options)) return reply_of(*fault);
  ObjectPtr left;
  if (!options->dry_run) left = remove_object(changes_, collection, *object, options->propagation);
  if (left) return reply_of(200, answer_text(*left, *op.type, op.form, changes_.seconds()));
  return reply_of(200, objects::success(op.subject(), op.name, object->uid).dump());
}

ApiReply Remover::remove_collection(const Operation& op, const ApiRequest& request) {
  const auto options = read_options(op, request);
  if (!options) return reply_of(options.error());
  const Collection& collection = changes_.store().collection(op.type->collection);
  ListText gone(*op.type, op.form, changes_.seconds());
  std::vector<ObjectPtr> selected = select(collection, op);
  if (op.limit > 0 && selected.size() > op.limit) selected.resize(op.limit);
  for (const ObjectPtr& object : selected) {
    if (refuse(op, *object, *options)) continue;
    ObjectPtr left;
    if (!options->dry_run) left = remove_object(changes_, collection, *object, options->propagation);
    gone.add(left ? *left : *object);
    if (gone.bytes() > limits_.list_bytes) break;
  }
  return reply_of(200, gone.finish(changes_.store().version(), "", -1));
}

}  // namespace edge::resource_api
