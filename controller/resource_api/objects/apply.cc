#include "controller/resource_api/objects/apply.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/objects/owners.h"
#include "controller/resource_api/objects/read.h"
#include "controller/resource_api/objects/typed.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::size_t kMaxLastApplied = std::size_t{256} << 10;
/// Who is said to own what an object had before it was first applied.
constexpr std::string_view kBeforeFirstApply = "before-first-apply";

const Json& managed_fields_of(const Json& object) {
  static const Json kNone;
  const auto meta = object.find("metadata");
  if (meta == object.end() || !meta->is_object()) return kNone;
  const auto found = meta->find("managedFields");
  return found == meta->end() ? kNone : *found;
}

Json without_owners(const Json& object) {
  Json out = object;
  if (out.contains("metadata") && out["metadata"].is_object()) out["metadata"].erase("managedFields");
  return out;
}

void set_owners(Json& object, const Owners& owners) {
  Json list = owners_json(owners);
  Json& meta = object["metadata"];
  if (list.empty()) {
    if (meta.is_object()) meta.erase("managedFields");
  } else {
    meta["managedFields"] = std::move(list);
  }
}

/// What every write names and none owns.
const FieldSet& unowned() {
  static const FieldSet kUnowned = [] {
    FieldSet set;
    for (const char* name : {"apiVersion", "kind", "metadata"}) set.at(PathStep::field(name)).set_member(true);
    FieldSet& meta = set.at(PathStep::field("metadata"));
    for (const char* name : {"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation",
                             "managedFields", "resourceVersion"}) {
      meta.at(PathStep::field(name)).set_member(true);
    }
    return set;
  }();
  return kUnowned;
}

/// What a write of this kind can own: status by its subresource alone, and nothing else by that.
FieldSet ownable(const FieldSet& set, const Writer& writer) {
  const PathStep status = PathStep::field("status");
  if (writer.subresource == "status") {
    FieldSet out;
    if (const FieldSet* found = set.find(status); found != nullptr && !found->empty()) out.at(status) = *found;
    return out;
  }
  if (!writer.has_status) return set;
  FieldSet all_status;
  all_status.at(status).set_member(true);
  return set.without_below(all_status);
}

Comparison ownable(Comparison found, const Writer& writer) {
  return {ownable(found.added, writer), ownable(found.removed, writer), ownable(found.modified, writer)};
}

Owner entry_of(const Writer& writer, bool applies) {
  Owner owner;
  owner.manager = writer.manager.empty() ? "unknown" : writer.manager;
  owner.applies = applies;
  owner.api_version = writer.api_version;
  owner.time = writer.time;
  owner.subresource = writer.subresource;
  return owner;
}

Owner* find(Owners& owners, const Owner& wanted) {
  const auto found = std::ranges::find_if(owners, [&](const Owner& owner) { return owner.same_as(wanted); });
  return found == owners.end() ? nullptr : &*found;
}

/// What a write that is no apply does to the owners: it takes what it changed.
void take_changes(Owners& owners, const Comparison& found, Owner writer) {
  const FieldSet changed = found.added.united(found.modified);
  for (Owner& owner : owners) owner.fields = owner.fields.without(changed).without(found.removed);
  writer.fields = changed.without(unowned());
  if (writer.fields.empty()) return;
  if (Owner* before = find(owners, writer); before != nullptr) {
    writer.fields = writer.fields.united(before->fields);
    *before = std::move(writer);
  } else {
    owners.push_back(std::move(writer));
  }
}

/// Removes what the writer applied last time, and not this time, and nobody else owns.
Json pruned(const Schema& schema, const Json& object, const FieldSet& last, const Owners& owners) {
  if (last.empty()) return object;
  const FieldSet named_last = with_named_fields(schema, last);
  const FieldSet all = with_named_fields(schema, fields_of(schema, object));
  FieldSet owned;
  for (const Owner& owner : owners) owned = owned.united(owner.fields);
  const FieldSet named_owned = with_named_fields(schema, owned);

  // Without all of it first; then what others own comes back, and what nobody ever applied.
  Json rest = without_fields(schema, object, named_last);
  FieldSet kept = with_named_fields(schema, fields_of(schema, rest));
  rest = without_fields(schema, object, all.without(kept.united(named_owned)), owned);
  kept = with_named_fields(schema, fields_of(schema, rest));
  return without_fields(schema, object, all.without(kept).intersected(named_last).without(owned), owned);
}

const Json* last_applied(const Json& object) {
  const auto meta = object.find("metadata");
  if (meta == object.end() || !meta->is_object()) return nullptr;
  const auto annotations = meta->find("annotations");
  if (annotations == meta->end() || !annotations->is_object()) return nullptr;
  const auto found = annotations->find(kLastApplied);
  return found == annotations->end() || !found->is_string() ? nullptr : &*found;
}

/// What `kubectl apply` of the client-side kind set, and is still as it set it: `kubectl apply --server-side` may take
/// that over without a conflict, whoever is said to own it.
FieldSet set_by_client_side_apply(const Schema& schema, const Json& live) {
  const Json* annotation = last_applied(live);
  if (annotation == nullptr) return {};
  const Answer<Json> applied = read_object(annotation->get_ref<const std::string&>());
  if (!applied) return {};
  const Comparison since = compare(schema, *applied, live);
  return fields_of(schema, *applied).without(since.modified).without(since.removed);
}

/// The annotation goes on saying what was applied, for a client that goes back.
void follow_last_applied(const Json& live, const Json& intent, Json& object) {
  if (last_applied(live) == nullptr) return;
  Json text = without_owners(intent);
  if (Json& meta = text["metadata"]; meta.is_object() && meta.contains("annotations")) {
    // They may be null: an intent that names none.
    Json& annotations = meta["annotations"];
    if (annotations.is_object()) annotations.erase(kLastApplied);
    if (annotations.empty()) meta.erase("annotations");
  }
  std::string annotation = json_line(text) + "\n";
  if (annotation.size() > kMaxLastApplied) return;
  Json& annotations = object["metadata"]["annotations"];
  if (annotations.is_object() || annotations.is_null()) annotations[kLastApplied] = std::move(annotation);
}

Causes conflicts_of(const Owners& owners, const Owner& self, const FieldSet& changed, const FieldSet& allowed) {
  Causes causes;
  std::vector<const Owner*> by_name;
  for (const Owner& owner : owners) {
    if (!owner.same_as(self)) by_name.push_back(&owner);
  }
  std::ranges::stable_sort(by_name, {}, [](const Owner* owner) { return owner->manager; });
  for (const Owner* owner : by_name) {
    owner->fields.intersected(changed).without(allowed).each([&](const std::string& path) {
      causes.push_back({"FieldManagerConflict", words({"conflict with ", owner_text(*owner)}), path});
    });
  }
  return causes;
}

std::string intent_fault(const Schema& schema, const Json& intent) {
  for (const std::string& field : unknown_fields(schema, intent)) {
    return words({"failed to create typed patch object: .", field, ": field not declared in schema"});
  }
  const std::string fault = list_fault(schema, intent);
  return fault.empty() ? std::string() : words({"failed to create typed patch object: ", fault});
}

}  // namespace

Answer<Applied> apply(const Schema& schema, const Json* live, const Json& intent, const Writer& writer, bool force) {
  if (!managed_fields_of(intent).is_null()) return bad_request("metadata.managedFields must be nil");
  const Json wanted = without_owners(intent);
  if (const std::string fault = intent_fault(schema, wanted); !fault.empty()) return bad_request(fault);
  const Json before = live == nullptr ? Json::object() : without_owners(*live);
  Owners owners = live == nullptr ? Owners() : read_owners(managed_fields_of(*live)).value_or(Owners());
  const Owners former = owners;
  if (owners.empty() && live != nullptr) {
    Owner unknown = entry_of(writer, false);
    unknown.manager = kBeforeFirstApply;
    unknown.subresource.clear();
    take_changes(owners, compare(schema, Json::object(), before), std::move(unknown));
  }

  Owner self = entry_of(writer, true);
  self.fields = ownable(fields_of(schema, wanted), writer).without(unowned());
  Owner* own = find(owners, self);
  const FieldSet last = own == nullptr ? FieldSet() : own->fields;
  const bool same_set = own != nullptr && own->fields == self.fields && own->api_version == self.api_version;
  const std::string last_time = own == nullptr ? std::string() : own->time;
  if (own == nullptr) {
    owners.push_back(self);
  } else {
    *own = self;
  }

  // What nobody owns of the intent (its name, its kind) is not to go either.
  Owners with_all = owners;
  find(with_all, self)->fields = fields_of(schema, wanted);
  Json after = pruned(schema, merged(schema, before, wanted), last, with_all);
  const Comparison found = ownable(compare(schema, before, after), writer);
  const FieldSet changed = found.added.united(found.modified);
  if (!force) {
    const bool migrates = writer.manager == "kubectl" && live != nullptr;
    const FieldSet allowed = migrates ? set_by_client_side_apply(schema, before) : FieldSet();
    Causes causes = conflicts_of(owners, self, changed, allowed);
    if (!causes.empty()) return apply_conflict(std::move(causes));
  }
  for (Owner& owner : owners) {
    if (!owner.same_as(self)) owner.fields = owner.fields.without(changed).without(found.removed);
  }
  if (live != nullptr && writer.manager == "kubectl" && writer.subresource.empty()) {
    follow_last_applied(before, wanted, after);
  }

  Applied result;
  const bool same_object = live != nullptr && after == before;
  // An apply that says what it said before leaves the time of its entry.
  if (same_object && same_set) find(owners, self)->time = last_time;
  result.changed = !(same_object && owners_json(owners) == owners_json(former));
  set_owners(after, owners);
  result.object = std::make_unique<Json>(std::move(after));
  return result;
}

void track(const Schema& schema, const Json* live, Json& changed, const Writer& writer) {
  if (!changed.is_object() || !changed["metadata"].is_object()) return;
  const Json given = managed_fields_of(changed);
  const bool of_subresource = !writer.subresource.empty();
  const bool resets = given.is_array() && (given.empty() || (given.size() == 1 && given[0] == Json::object()));
  if (resets && !of_subresource) {
    changed["metadata"].erase("managedFields");
    return;
  }
  std::optional<Owners> owners;
  if (!of_subresource && given.is_array()) owners = read_owners(given);
  if ((!owners || owners->empty()) && live != nullptr) owners = read_owners(managed_fields_of(*live));
  if (!owners) owners.emplace();
  // Whose owners were forgotten, nobody's are kept until someone applies.
  if (live != nullptr && owners->empty()) {
    changed["metadata"].erase("managedFields");
    return;
  }
  const Json before = live == nullptr ? Json::object() : without_owners(*live);
  take_changes(*owners, ownable(compare(schema, before, without_owners(changed)), writer), entry_of(writer, false));
  set_owners(changed, *owners);
}

}  // namespace edge::resource_api::objects
