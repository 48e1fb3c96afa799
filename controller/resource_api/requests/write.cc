#include "controller/resource_api/requests/write.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "controller/resource_api/builtin_kinds.h"
#include "controller/resource_api/crds.h"
#include "controller/resource_api/identity.h"
#include "controller/resource_api/objects/apply.h"
#include "controller/resource_api/objects/built_in/built_in.h"
#include "controller/resource_api/objects/crd.h"
#include "controller/resource_api/objects/metadata.h"
#include "controller/resource_api/objects/patch.h"
#include "controller/resource_api/objects/read.h"
#include "controller/resource_api/requests/body.h"
#include "controller/resource_api/requests/render.h"

namespace edge::resource_api {
namespace {

using objects::Answer;
using objects::Json;

constexpr int kNameAttempts = 8;
constexpr std::size_t kMaxWarnings = 20;
constexpr std::string_view kRoleGroup = "rbac.authorization.k8s.io";
/// Decision 54. Whoever writes a role believes that it holds.
constexpr std::string_view kRolesAreKept =
    "roles are kept and not obeyed by this API: who may what is said by the groups of its tokens and certificates";

objects::NameRule name_rule(const ResourceType& type) {
  if (type.group == kRoleGroup) return objects::NameRule::kPathSegment;
  if (type.group.empty() && type.kind == "Namespace") return objects::NameRule::kLabel;
  if (type.group.empty() && type.kind == "Service") return objects::NameRule::kDns1035;
  return objects::NameRule::kSubdomain;
}

/// Kinds whose metadata.generation counts: those with a desired state that someone works towards.
bool counts_generations(const ResourceType& type) {
  return type.custom || type.group == "apps" || type.plural == "ingresses" ||
         type.plural == "customresourcedefinitions";
}

/// Kinds that an update makes where they are not there, as in Kubernetes: leaders renew, and controllers write
/// endpoints, without asking first.
bool is_made_by_update(const Operation& op) {
  if (!op.subresource.empty()) return false;
  const ResourceType& type = *op.type;
  if (type.group.empty()) return type.plural == "endpoints" || type.plural == "services" || type.plural == "events";
  return type.plural == "leases" || type.group == "events.k8s.io" || type.group == kRoleGroup;
}

/// The part that a change of makes a new generation.
Json desired_state(const ResourceType& type, const Json& object) {
  Json state = object;
  state.erase("metadata");
  if (type.status) state.erase("status");
  return state;
}

objects::Writer writer_of(const Operation& op, const std::string& time) {
  return {op.manager, op.type->api_version(), time, op.subresource, op.type->status};
}

/// stringData is for writing only: its values go into data.
void fold_string_data(Json& secret) {
  const auto texts = secret.find("stringData");
  if (texts == secret.end() || !texts->is_object()) return;
  Json& data = secret["data"];
  if (data.is_null()) data = Json::object();
  if (!data.is_object()) return;  // validation says so
  for (const auto& [key, value] : texts->items()) {
    if (value.is_string()) data[key] = to_base64(value.get_ref<const std::string&>());
  }
  secret.erase("stringData");
}

/// Of a status write nothing but status counts, of any other everything else.
void keep_apart(const Operation& op, const Json& old, Json& next) {
  const auto take = [](Json& to, const Json& from, const char* field) {
    if (from.contains(field)) {
      to[field] = from[field];
    } else {
      to.erase(field);
    }
  };
  if (op.subresource == "status") {
    Json kept = old;
    take(kept, next, "status");
    take(kept["metadata"], next["metadata"], "resourceVersion");
    take(kept["metadata"], next["metadata"], "managedFields");
    next = std::move(kept);
  } else if (op.subresource == "finalize") {
    Json kept = old;
    if (!next["spec"].is_object()) next["spec"] = Json::object();
    take(kept["spec"], next["spec"], "finalizers");
    next = std::move(kept);
  } else {
    if (op.type->status) take(next, old, "status");
    // All that a namespace's spec says is who is to finalize it, and that is changed by /finalize alone: without it
    // the namespace would go before what is in it.
    if (op.type->collection == kNamespaces) take(next, old, "spec");
  }
}

/// What an apply may speak of.
void narrow_intent(const Operation& op, Json& intent) {
  if (op.subresource != "status") {
    if (op.type->status) intent.erase("status");
    return;
  }
  Json narrow = {{"apiVersion", intent["apiVersion"]}, {"kind", intent["kind"]}, {"metadata", intent["metadata"]}};
  if (intent.contains("status")) narrow["status"] = intent["status"];
  for (const char* field : {"labels", "annotations", "finalizers", "ownerReferences"}) narrow["metadata"].erase(field);
  intent = std::move(narrow);
}

}  // namespace

/// A write in progress.
struct Writer::Draft {
  const Operation& op;
  ObjectPtr live{};  ///< nullptr: it is created
  Json old{};        ///< the same, as the client knows it
  Json next{};
  std::vector<std::string> doubts{};  ///< keys written twice, unknown fields
  bool tracked = false;               ///< managedFields are in
};

ApiReply Writer::create(const Operation& op, const ApiRequest& request) {
  Draft draft{op};
  auto body = read_object_body(op, request, draft.doubts);
  if (!body) return reply_of(body.error());
  draft.next = std::move(*body);
  if (!metadata_text(draft.next, "resourceVersion").empty()) {
    return reply_of(objects::bad_request("resourceVersion should not be set on objects to be created"));
  }
  if (op.type->status) draft.next.erase("status");
  return begin_new(draft);
}

ApiReply Writer::begin_new(Draft& draft) {
  const Operation& op = draft.op;
  if (Fault fault = check_namespace(op)) return reply_of(*fault);
  if (changes_.store().object_count() >= limits_.objects) {
    return reply_of(objects::forbidden_because(op.subject(), metadata_text(draft.next, "name"),
                                               "the store holds as many objects as it may"));
  }
  if (Fault fault = name_new(draft)) return reply_of(*fault);
  Json& metadata = draft.next["metadata"];
  for (const char* field : {"selfLink", "deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion"}) {
    metadata.erase(field);
  }
  metadata["uid"] = new_uid();
  metadata["creationTimestamp"] = changes_.time();
  metadata.erase("generation");
  if (counts_generations(*op.type)) metadata["generation"] = 1;
  return finish(draft);
}

Writer::Fault Writer::name_new(Draft& draft) {
  const Operation& op = draft.op;
  const Collection& collection = changes_.store().collection(op.type->collection);
  Json& metadata = draft.next["metadata"];
  if (std::string name = metadata_text(draft.next, "name"); !name.empty() || metadata.contains("name")) {
    const bool taken = changes_.store().find(collection, {op.name_space, name}) != nullptr;
    if (taken) return objects::already_exists(op.subject(), name);
    return std::nullopt;
  }
  const std::string prefix = metadata_text(draft.next, "generateName");
  if (prefix.empty()) {
    return objects::invalid(op.subject(), "",
                            {objects::value_required("metadata.name", "name or generateName is required")});
  }
  std::string name;
  for (int attempt = 0; attempt < kNameAttempts; ++attempt) {
    name = generated_name(prefix);
    if (changes_.store().find(collection, {op.name_space, name})) continue;
    metadata["name"] = name;
    return std::nullopt;
  }
  return objects::generate_name_exhausted(op.subject(), name);
}

Writer::Fault Writer::check_namespace(const Operation& op) {
  if (!op.type->namespaced) return std::nullopt;
  const ObjectPtr found = changes_.store().find(changes_.store().collection(kNamespaces), {"", op.name_space});
  if (!found) return objects::not_found({"", "namespaces", "Namespace"}, op.name_space);
  if (!found->deleting) return std::nullopt;
  objects::StatusError error = objects::forbidden_because(
      op.subject(), op.name,
      "unable to create new content in namespace " + op.name_space + " because it is being terminated");
  error.causes.push_back(
      {"NamespaceTerminating", "namespace " + op.name_space + " is being terminated", "metadata.namespace"});
  return error;
}

ApiReply Writer::update(const Operation& op, const ApiRequest& request) {
  Draft draft{op};
  auto body = read_object_body(op, request, draft.doubts);
  if (!body) return reply_of(body.error());
  draft.next = std::move(*body);
  draft.live = changes_.store().find(changes_.store().collection(op.type->collection), {op.name_space, op.name});
  if (!draft.live) {
    // Who names the object that he has read does not mean a new one.
    const bool another =
        !metadata_text(draft.next, "uid").empty() || !metadata_text(draft.next, "resourceVersion").empty();
    if (another || !is_made_by_update(op)) return reply_of(objects::not_found(op.subject(), op.name));
    if (op.type->status) draft.next.erase("status");
    return begin_new(draft);
  }
  draft.old = object_json(*draft.live, *op.type);
  if (op.type->custom && metadata_text(draft.next, "resourceVersion").empty()) {
    return reply_of(
        objects::invalid(op.subject(), op.name,
                         {objects::value_invalid("metadata.resourceVersion", 0, "must be specified for an update")}));
  }
  return change(draft);
}

ApiReply Writer::patch(const Operation& op, const ApiRequest& request) {
  Draft draft{op};
  draft.live = changes_.store().find(changes_.store().collection(op.type->collection), {op.name_space, op.name});
  if (draft.live) draft.old = object_json(*draft.live, *op.type);
  if (op.patch == PatchType::kApply) return apply(op, request, draft);
  if (!draft.live) return reply_of(objects::not_found(op.subject(), op.name));
  auto body = objects::read_json(request.body, &draft.doubts);
  if (!body) return reply_of(body.error());
  Answer<Json> patched = op.patch == PatchType::kJson ? objects::json_patch(draft.old, *body)
                         : op.patch == PatchType::kMerge
                             ? objects::merge_patch(draft.old, *body)
                             : objects::strategic_merge_patch(draft.old, *body, *op.type->shape);
  if (!patched) return reply_of(patched.error());
  draft.next = std::move(*patched);
  if (!draft.next.is_object()) return reply_of(objects::bad_request("the patched object is no object"));
  if (auto fault = check_object(op, draft.next)) return reply_of(*fault);
  return change(draft);
}

ApiReply Writer::apply(const Operation& op, const ApiRequest& request, Draft& draft) {
  auto intent = read_object_body(op, request, draft.doubts);
  if (!intent) return reply_of(intent.error());
  if ((*intent)["metadata"].contains("managedFields") && !(*intent)["metadata"]["managedFields"].empty()) {
    return reply_of(objects::bad_request("metadata.managedFields must be nil"));
  }
  (*intent)["metadata"].erase("managedFields");
  if (!draft.live && !op.subresource.empty()) return reply_of(objects::not_found(op.subject(), op.name));
  if (!draft.live && !metadata_text(*intent, "uid").empty()) {
    return reply_of(objects::conflict(op.subject(), op.name,
                                      "uid mismatch: the provided object specified uid " +
                                          metadata_text(*intent, "uid") + ", and no existing object was found"));
  }
  narrow_intent(op, *intent);
  fold_string_data(*intent);
  draft.next = *intent;
  if (Fault fault = check_fields(draft)) return reply_of(*fault);  // of the intent, before it is merged
  auto applied = objects::apply(*op.type->shape, draft.live ? &draft.old : nullptr, draft.next,
                                writer_of(op, changes_.time()), op.force);
  if (!applied) return reply_of(applied.error());
  if (draft.live && !applied->changed) return reply(draft, *draft.live, 200);
  draft.next = std::move(*applied->object);
  draft.tracked = true;
  return draft.live ? change(draft) : begin_new(draft);
}

Writer::Fault Writer::check_identity(Draft& draft) {
  const Operation& op = draft.op;
  Json& next = draft.next["metadata"];
  const Json& old = draft.old["metadata"];
  // One of another type would be no condition at all.
  for (const char* field : {"resourceVersion", "uid"}) {
    const Json given = next.value(field, Json());
    if (given.is_null() || given.is_string()) continue;
    return objects::bad_request(std::string("metadata.") + field + " must be a string");
  }
  const std::string version = metadata_text(draft.next, "resourceVersion");
  if (!version.empty() && version != std::to_string(draft.live->version)) {
    return objects::stale_object(op.subject(), op.name);
  }
  const std::string uid = metadata_text(draft.next, "uid");
  if (!uid.empty() && uid != draft.live->uid) {
    return objects::conflict(
        op.subject(), op.name,
        "Precondition failed: UID in precondition: " + uid + ", UID in object meta: " + draft.live->uid);
  }
  next["resourceVersion"] = std::to_string(draft.live->version);
  // What clients may leave out, and what they never decide.
  for (const char* field : {"uid", "creationTimestamp"}) {
    if (!next.contains(field) || next[field].is_null()) next[field] = old.value(field, Json());
  }
  for (const char* field : {"generation", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    if (old.contains(field)) next[field] = old[field];
  }
  if (!old.contains("generation")) next.erase("generation");
  if (next.contains("deletionTimestamp") && next["deletionTimestamp"].is_null()) next.erase("deletionTimestamp");
  next.erase("selfLink");
  return std::nullopt;
}

ApiReply Writer::change(Draft& draft) {
  if (Fault fault = check_identity(draft)) return reply_of(*fault);
  keep_apart(draft.op, draft.old, draft.next);
  return finish(draft);
}

ApiReply Writer::finish(Draft& draft) {
  complete(draft);
  if (Fault fault = check_fields(draft)) return reply_of(*fault);
  if (Fault fault = validate(draft)) return reply_of(*fault);
  return save(draft);
}

/// What an API server fills in.
void Writer::complete(Draft& draft) {
  const ResourceType& type = *draft.op.type;
  Json& next = draft.next;
  if (type.collection == kSecrets) fold_string_data(next);
  if (type.custom) {
    objects::apply_defaults(*type.shape, next);
  } else {
    objects::apply_built_in_defaults(type.group, type.kind, next);
  }
  if (type.collection == kCustomResourceDefinitions) objects::apply_crd_defaults(next);
  if (draft.live) return;
  if (type.collection == kCustomResourceDefinitions) {
    Json& finalizers = next["metadata"]["finalizers"];
    if (finalizers.is_null()) finalizers = Json::array();
    if (finalizers.is_array()) finalizers.push_back(kCrdFinalizer);
  } else if (type.collection == kNamespaces) {
    if (next["spec"].is_null()) next["spec"] = Json::object();
    if (next["spec"].is_object()) next["spec"]["finalizers"] = Json::array({"kubernetes"});
    next["status"] = {{"phase", "Active"}};
    Json& labels = next["metadata"]["labels"];
    if (labels.is_null()) labels = Json::object();
    if (labels.is_object()) labels["kubernetes.io/metadata.name"] = metadata_text(next, "name");
  }
}

Writer::Fault Writer::check_fields(Draft& draft) {
  std::vector<std::string> unknown;
  objects::prune(*draft.op.type->shape, draft.next, &unknown);
  for (std::string& field : unknown) {
    std::string doubt = "unknown field \"" + field + "\"";
    if (std::find(draft.doubts.begin(), draft.doubts.end(), doubt) == draft.doubts.end()) {
      draft.doubts.push_back(std::move(doubt));
    }
  }
  if (draft.doubts.empty() || draft.op.field_validation != FieldValidation::kStrict) return std::nullopt;
  std::string message = "strict decoding error: ";
  for (std::size_t i = 0; i < draft.doubts.size(); ++i) message += (i > 0 ? ", " : "") + draft.doubts[i];
  return objects::bad_request(message);
}

Writer::Fault Writer::validate(const Draft& draft) {
  const ResourceType& type = *draft.op.type;
  const Json* old = draft.live ? &draft.old : nullptr;
  objects::Causes causes;
  objects::validate_metadata(draft.next, name_rule(type), type.namespaced, causes);
  objects::validate_managed_fields(draft.next, causes);
  if (old != nullptr && causes.empty()) objects::validate_metadata_update(draft.next, *old, causes);
  if (causes.empty()) objects::validate(*type.shape, draft.next, old, causes);
  if (causes.empty() && !type.custom) {
    objects::validate_built_in(type.group, type.kind, draft.next, old, causes);
    if (type.collection == kCustomResourceDefinitions) objects::validate_crd(draft.next, old, causes);
  }
  if (causes.empty()) return std::nullopt;
  return objects::invalid(draft.op.subject(), metadata_text(draft.next, "name"), std::move(causes));
}

ApiReply Writer::save(Draft& draft) {
  const ResourceType& type = *draft.op.type;
  const Json* old = draft.live ? &draft.old : nullptr;
  Json& next = draft.next;
  if (old != nullptr && counts_generations(type) && desired_state(type, next) != desired_state(type, *old)) {
    const Json before = (*old)["metadata"].value("generation", Json(0));
    next["metadata"]["generation"] = (before.is_number_integer() ? before.get<std::int64_t>() : 0) + 1;
  }
  if (!draft.tracked) objects::track(*type.shape, old, next, writer_of(draft.op, changes_.time()));
  if (old != nullptr && next == *old) return reply(draft, *draft.live, 200);  // a write of nothing is none
  const int status = old == nullptr ? 201 : 200;
  to_stored_form(type, next);
  next.erase("apiVersion");
  next.erase("kind");
  const Collection& collection = changes_.store().collection(type.collection);
  Object shown;
  shown.version = draft.live ? draft.live->version : 0;
  shown.text = json_line(next);
  if (shown.text.size() > limits_.object_bytes) {
    return reply_of(objects::too_large("Request entity too large: limit is " + std::to_string(limits_.object_bytes)));
  }
  if (draft.op.dry_run) return reply(draft, shown, status);
  const ObjectPtr stored = changes_.put_or_remove(collection, std::move(next));
  return reply(draft, stored ? *stored : shown, status);
}

ApiReply Writer::reply(const Draft& draft, const Object& object, int status) const {
  ApiReply reply = reply_of(status, answer_text(object, *draft.op.type, draft.op.form, changes_.seconds()));
  const auto warn = [&reply](std::string_view text) {
    // A quoted string of RFC 9110 §5.6.4.
    std::string quoted;
    for (const char c : text) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    reply.fields.emplace_back("Warning", "299 - \"" + quoted + "\"");
  };
  if (draft.op.field_validation == FieldValidation::kWarn) {
    for (std::size_t i = 0; i < std::min(draft.doubts.size(), kMaxWarnings); ++i) warn(draft.doubts[i]);
  }
  if (draft.op.type->deprecated) warn(draft.op.type->deprecation_warning);
  if (draft.op.type->group == kRoleGroup) warn(kRolesAreKept);
  return reply;
}

}  // namespace edge::resource_api
