// Kubernetes' strategic merge patch: lists of objects merge by a key where the kind says so, lists of values as sets,
// and directives say what a merge cannot (delete, replace, order).
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/objects/patch.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

constexpr std::string_view kDirective = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDeletes = "$deleteFromPrimitiveList/";
constexpr std::string_view kOrder = "$setElementOrder/";

using Keys = std::vector<std::string>;

bool is_directive(std::string_view name) {
  return name == kDirective || name == kRetainKeys || name.starts_with(kDeletes) || name.starts_with(kOrder);
}

/// A value that is new has nothing that directives could speak of, and no nulls that would remove anything. False: it
/// is itself a directive, and nothing comes of it.
bool settle(Json& value) {
  if (value.is_object()) {
    if (value.contains(kDirective)) return false;
    for (auto at = value.begin(); at != value.end();) {
      const bool kept = !is_directive(at.key()) && !at->is_null() && settle(*at);
      at = kept ? std::next(at) : value.erase(at);
    }
  } else if (value.is_array()) {
    Json kept = Json::array();
    for (Json& item : value) {
      if (settle(item)) kept.push_back(std::move(item));
    }
    value = std::move(kept);
  }
  return true;
}

/// Items of a list by identity: the value of the merge key, or the value itself.
class List {
 public:
  List(const Schema* schema, const std::string& name) {
    const Schema* field = schema == nullptr ? nullptr : schema->field(name);
    if (field == nullptr) return;
    merges = field->patch_merges;
    merge_key = field->patch_merge_key;
    items = field->items.get();
  }

  /// Empty: the item has no key.
  std::string key_of(const Json& item) const {
    if (!item.is_object()) return json_line(item);
    const auto found = item.find(merge_key);
    return merge_key.empty() || found == item.end() ? std::string() : json_line(*found);
  }
  Keys keys_of(const Json& list) const {
    Keys keys;
    for (const Json& item : list) keys.push_back(key_of(item));
    return keys;
  }

  bool merges = false;
  std::string merge_key;
  const Schema* items = nullptr;
};

std::unordered_map<std::string, std::size_t> places_of(const Keys& keys) {
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < keys.size(); ++i) places.try_emplace(keys[i], i);
  return places;
}

/// The merged list in order: what the patch speaks of as the patch has it, the rest as it was, and between the two what
/// stood first in the object stays first.
Json in_order(const List& list, const Json& merged, const Keys& patch_order, const Keys& old_order) {
  const auto by_patch = places_of(patch_order);
  const auto by_old = places_of(old_order);
  std::vector<std::pair<std::size_t, const Json*>> patched;
  std::vector<std::pair<std::size_t, const Json*>> others;
  for (const Json& item : merged) {
    const std::string key = list.key_of(item);
    if (const auto at = by_patch.find(key); at != by_patch.end()) {
      patched.emplace_back(at->second, &item);
    } else {
      const auto old = by_old.find(key);
      others.emplace_back(old == by_old.end() ? old_order.size() : old->second, &item);
    }
  }
  const auto by_place = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::ranges::stable_sort(patched, by_place);
  std::ranges::stable_sort(others, by_place);
  Json ordered = Json::array();
  std::size_t next = 0;
  for (const auto& [position, item] : patched) {
    const auto old = by_old.find(list.key_of(*item));
    while (old != by_old.end() && next < others.size() && others[next].first < old->second) {
      ordered.push_back(*others[next++].second);
    }
    ordered.push_back(*item);
  }
  while (next < others.size()) ordered.push_back(*others[next++].second);
  return ordered;
}

class Merger {
 public:
  /// Empty: it was done. Else what is wrong with the patch.
  const std::string& fault() const { return fault_; }

  void object(Json& target, const Json& patch, const Schema* schema);

 private:
  void failed(std::string why) {
    if (fault_.empty()) fault_ = std::move(why);
  }
  bool directive(Json& target, const Json& patch);
  void retain_keys(Json& target, const Json& patch);
  void remove_values(Json& target, const std::string& name, const Json& values);
  void field(Json& target, const std::string& name, const Json& value, const Schema* schema);
  void reorder(Json& target, const std::string& name, const Json& order, const Json& patch, const Keys& before,
               const Schema* schema);
  Json list(const Json& old, const Json& patch, const List& how);
  Json objects(const Json& old, const Json& patch, const List& how);

  std::string fault_;
};

bool Merger::directive(Json& target, const Json& patch) {
  const auto found = patch.find(kDirective);
  if (found == patch.end()) return false;
  if (*found == "replace") {
    Json value = patch;
    value.erase(std::string(kDirective));
    settle(value);
    target = std::move(value);
  } else if (*found == "delete") {
    target = Json::object();
  } else {
    failed(words({"unknown patch type ", json_line(*found), " found"}));
  }
  return true;
}

void Merger::retain_keys(Json& target, const Json& patch) {
  const auto found = patch.find(kRetainKeys);
  if (found == patch.end()) return;
  if (!found->is_array()) return failed("$retainKeys must be a list of field names");
  std::unordered_set<std::string> kept;
  for (const Json& name : *found) {
    if (name.is_string()) kept.insert(name.get<std::string>());
  }
  for (const auto& [name, value] : patch.items()) {
    if (!is_directive(name) && !value.is_null() && !kept.contains(name)) {
      return failed(words({"$retainKeys does not name the field ", in_quotes(name), " of the patch"}));
    }
  }
  for (auto at = target.begin(); at != target.end();) at = kept.contains(at.key()) ? std::next(at) : target.erase(at);
}

void Merger::remove_values(Json& target, const std::string& name, const Json& values) {
  const auto found = target.find(name);
  if (found == target.end()) return;
  if (!values.is_array() || !found->is_array()) {
    return failed(words({"$deleteFromPrimitiveList of ", in_quotes(name), " needs a list"}));
  }
  std::unordered_set<std::string> removed;
  for (const Json& value : values) removed.insert(json_line(value));
  Json kept = Json::array();
  for (Json& item : *found) {
    if (!removed.contains(json_line(item))) kept.push_back(std::move(item));
  }
  *found = std::move(kept);
}

Json Merger::objects(const Json& old, const Json& patch, const List& how) {
  std::unordered_set<std::string> deleted;
  bool replaces = false;
  std::vector<const Json*> merged;
  for (const Json& item : patch) {
    const auto found = item.find(kDirective);
    if (found == item.end() || *found == "delete") {
      const std::string key = how.key_of(item);
      if (key.empty() && !(replaces && found == item.end())) {
        failed(
            words({"map: ", json_line(item).substr(0, 256), " does not contain declared merge key: ", how.merge_key}));
        return old;
      }
      if (found != item.end()) deleted.insert(key);
    }
    if (found == item.end()) merged.push_back(&item);
    if (found != item.end() && *found == "replace") replaces = true;
    if (found != item.end() && *found != "delete" && *found != "replace") {
      failed(words({"unknown patch type ", json_line(*found), " found in a list"}));
      return old;
    }
  }
  Json result = Json::array();
  if (!replaces) {
    for (const Json& item : old) {
      if (!deleted.contains(how.key_of(item))) result.push_back(item);
    }
  }
  Keys keys = how.keys_of(result);
  auto places = places_of(keys);
  for (const Json* item : merged) {
    const std::string key = how.key_of(*item);
    if (const auto at = places.find(key); at != places.end() && !replaces) {
      object(result[at->second], *item, how.items);
      continue;
    }
    Json added = *item;
    if (!settle(added)) continue;
    places.try_emplace(key, result.size());
    result.push_back(std::move(added));
  }
  if (replaces) return result;
  Keys order;
  for (const Json* item : merged) order.push_back(how.key_of(*item));
  return in_order(how, result, order, keys);
}

Json Merger::list(const Json& old, const Json& patch, const List& how) {
  if (!how.merges) {
    Json value = patch;
    settle(value);
    return value;
  }
  const auto is_object = [](const Json& item) { return item.is_object(); };
  const bool any = std::ranges::any_of(patch, is_object) || std::ranges::any_of(old, is_object);
  if (any && !(std::ranges::all_of(patch, is_object) && std::ranges::all_of(old, is_object))) {
    failed("list element types are not identical");
    return old;
  }
  if (any && how.merge_key.empty()) {
    failed("cannot merge lists without merge key");
    return old;
  }
  if (any) return objects(old, patch, how);
  Json merged = Json::array();
  std::unordered_set<std::string> seen;
  for (const Json* part : {&old, &patch}) {
    for (const Json& item : *part) {
      if (seen.insert(json_line(item)).second) merged.push_back(item);
    }
  }
  return in_order(how, merged, how.keys_of(patch), how.keys_of(old));
}

void Merger::field(Json& target, const std::string& name, const Json& value, const Schema* schema) {
  if (value.is_null()) {
    target.erase(name);
    return;
  }
  const auto found = target.find(name);
  const bool same = found != target.end() && found->type() == value.type();
  if (same && value.is_object()) {
    const Schema* inner = schema == nullptr ? nullptr : schema->field(name);
    if (inner == nullptr && schema != nullptr) inner = schema->additional.get();
    object(*found, value, inner);
  } else if (same && value.is_array()) {
    *found = list(*found, value, List(schema, name));
  } else if (Json added = value; settle(added)) {
    target[name] = std::move(added);
  } else {
    target.erase(name);
  }
}

void Merger::reorder(Json& target, const std::string& name, const Json& order, const Json& patch, const Keys& before,
                     const Schema* schema) {
  if (!order.is_array()) return failed(words({"$setElementOrder of ", in_quotes(name), " needs a list"}));
  const auto found = target.find(name);
  if (found == target.end() || !found->is_array()) return;
  const List how(schema, name);
  const Keys wanted = how.keys_of(order);
  const std::unordered_set<std::string> named(wanted.begin(), wanted.end());
  if (const auto list = patch.find(name); list != patch.end() && list->is_array()) {
    for (const Json& item : *list) {
      if (item.is_object() && item.contains(kDirective)) continue;
      if (!named.contains(how.key_of(item))) {
        return failed(words({"$setElementOrder of ", in_quotes(name), " does not name all items of the patch's list"}));
      }
    }
  }
  *found = in_order(how, *found, wanted, before);
}

void Merger::object(Json& target, const Json& patch, const Schema* schema) {
  if (!fault_.empty() || directive(target, patch)) return;
  retain_keys(target, patch);
  // The order that a list had is what new items are put between.
  std::vector<std::pair<std::string, Keys>> orders;
  for (const auto& [name, value] : patch.items()) {
    if (!name.starts_with(kOrder)) continue;
    const std::string list = name.substr(kOrder.size());
    const auto found = target.find(list);
    orders.emplace_back(list, found != target.end() && found->is_array() ? List(schema, list).keys_of(*found) : Keys());
  }
  for (const auto& [name, value] : patch.items()) {
    if (name.starts_with(kDeletes)) remove_values(target, name.substr(kDeletes.size()), value);
  }
  for (const auto& [name, value] : patch.items()) {
    if (fault_.empty() && !is_directive(name)) field(target, name, value, schema);
  }
  for (const auto& [name, before] : orders) {
    if (fault_.empty()) reorder(target, name, patch.at(std::string(kOrder) + name), patch, before, schema);
  }
}

}  // namespace

Answer<Json> strategic_merge_patch(const Json& object, const Json& patch, const Schema& schema) {
  if (!patch.is_object()) return bad_request("error decoding patch: a strategic merge patch is an object");
  Json merged = object;
  Merger merger;
  merger.object(merged, patch, &schema);
  if (!merger.fault().empty()) return bad_request(words({"error applying the patch: ", merger.fault()}));
  return merged;
}

}  // namespace edge::resource_api::objects
