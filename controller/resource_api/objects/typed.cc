#include "controller/resource_api/objects/typed.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

enum class Shape : std::uint8_t { kNull, kLeaf, kMap, kList };

Shape shape_of(const Schema* schema, const Json& value) {
  if (value.is_null()) return Shape::kNull;
  if (value.is_object()) {
    const bool map = schema == nullptr ||
                     ((schema->type == SchemaType::kObject || schema->type == SchemaType::kAny) && !schema->atomic_map);
    return map ? Shape::kMap : Shape::kLeaf;
  }
  if (value.is_array() && schema != nullptr && schema->type == SchemaType::kArray &&
      (schema->list_type == ListType::kMap || schema->list_type == ListType::kSet)) {
    return Shape::kList;
  }
  return Shape::kLeaf;
}

bool is_named(const Schema* schema, std::string_view name) {
  return schema != nullptr && schema->field(name) != nullptr;
}

/// Of a field of a map; nullptr: nothing is said of it.
const Schema* child_of(const Schema* schema, std::string_view name) {
  if (schema == nullptr) return nullptr;
  const Schema* named = schema->field(name);
  return named != nullptr ? named : schema->additional.get();
}

/// nullopt: the item cannot be told apart.
std::optional<PathStep> step_of(const Schema& list, const Json& item) {
  if (list.list_type == ListType::kSet) {
    if (item.is_structured() || item.is_null()) return std::nullopt;
    return PathStep::value(item);
  }
  if (!item.is_object()) return std::nullopt;
  Json keys = Json::object();
  for (const std::string& name : list.map_keys) {
    if (const auto found = item.find(name); found != item.end()) {
      keys[name] = *found;
      continue;
    }
    const Schema* key = list.items == nullptr ? nullptr : list.items->field(name);
    if (key == nullptr || key->default_value == nullptr) return std::nullopt;
    keys[name] = *key->default_value;
  }
  return PathStep::key(keys);
}

/// Items by identity, in the order of first occurrence. Duplicates share one entry.
struct Items {
  std::vector<PathStep> order;
  std::map<PathStep, std::vector<const Json*>> by_step;

  Items(const Schema& schema, const Json* list) {
    if (list == nullptr || !list->is_array()) return;
    for (const Json& item : *list) {
      const auto step = step_of(schema, item);
      if (!step) continue;
      auto& same = by_step[*step];
      if (same.empty()) order.push_back(*step);
      same.push_back(&item);
    }
  }
  const std::vector<const Json*>* find(const PathStep& step) const {
    const auto found = by_step.find(step);
    return found == by_step.end() ? nullptr : &found->second;
  }
};

bool is_empty(const Json* value, Json::value_t type) {
  return value == nullptr || value->type() != type || value->empty();
}

// -- fields_of

void collect(const Schema* schema, const Json& value, std::vector<PathStep>& path, FieldSet& out) {
  switch (shape_of(schema, value)) {
    case Shape::kNull:
      return;
    case Shape::kLeaf:
      out.insert(path);
      return;
    case Shape::kMap:
      for (const auto& [name, inner] : value.items()) {
        path.push_back(PathStep::field(name));
        collect(child_of(schema, name), inner, path, out);
        if (!is_named(schema, name) || inner.is_null() || (inner.is_object() && inner.empty())) out.insert(path);
        path.pop_back();
      }
      return;
    case Shape::kList: {
      const Items items(*schema, &value);
      for (const auto& [step, same] : items.by_step) {
        path.push_back(step);
        if (same.size() == 1) collect(schema->items.get(), *same.front(), path, out);
        out.insert(path);
        path.pop_back();
      }
      return;
    }
  }
}

// -- compare

class Comparer {
 public:
  Comparison out;

  void value(const Schema* schema, const Json* before, const Json* after);

 private:
  void leaf(const Json* before, const Json* after) {
    if (before == nullptr) {
      out.added.insert(path_);
    } else if (after == nullptr) {
      out.removed.insert(path_);
    } else if (*before != *after) {
      out.modified.insert(path_);
    }
  }
  void map(const Schema* schema, const Json* before, const Json* after);
  void list(const Schema& schema, const Json* before, const Json* after);
  void items(const Schema& schema, const std::vector<const Json*>* before, const std::vector<const Json*>* after);

  std::vector<PathStep> path_;
};

void Comparer::map(const Schema* schema, const Json* before, const Json* after) {
  const auto visit = [&](const std::string& name, const Json* left, const Json* right) {
    path_.push_back(PathStep::field(name));
    value(child_of(schema, name), left, right);
    path_.pop_back();
  };
  const auto find = [](const Json* object, const std::string& name) -> const Json* {
    if (object == nullptr || !object->is_object()) return nullptr;
    const auto found = object->find(name);
    return found == object->end() ? nullptr : &*found;
  };
  if (before != nullptr && before->is_object()) {
    for (const auto& [name, inner] : before->items()) visit(name, &inner, find(after, name));
  }
  if (after == nullptr || !after->is_object()) return;
  for (const auto& [name, inner] : after->items()) {
    if (find(before, name) == nullptr) visit(name, nullptr, &inner);
  }
}

/// Twins are compared as one, for nothing tells them apart.
void Comparer::items(const Schema& schema, const std::vector<const Json*>* before,
                     const std::vector<const Json*>* after) {
  const std::size_t old_count = before == nullptr ? 0 : before->size();
  const std::size_t new_count = after == nullptr ? 0 : after->size();
  const Json* first_old = old_count == 0 ? nullptr : before->front();
  const Json* first_new = new_count == 0 ? nullptr : after->front();
  if (old_count <= 1 && new_count <= 1) return value(schema.items.get(), first_old, first_new);
  if (old_count >= 2 && new_count >= 2) {
    const bool same = std::ranges::equal(*before, *after, [](const Json* a, const Json* b) { return *a == *b; });
    if (!same) out.modified.insert(path_);
  } else if (old_count >= 2) {
    if (first_new != nullptr) value(schema.items.get(), nullptr, first_new);
    out.removed.insert(path_);
  } else {
    if (first_old != nullptr) value(schema.items.get(), first_old, nullptr);
    out.added.insert(path_);
  }
}

void Comparer::list(const Schema& schema, const Json* before, const Json* after) {
  const Items old_items(schema, before);
  const Items new_items(schema, after);
  const auto visit = [&](const PathStep& step) {
    path_.push_back(step);
    items(schema, old_items.find(step), new_items.find(step));
    path_.pop_back();
  };
  for (const PathStep& step : old_items.order) visit(step);
  for (const PathStep& step : new_items.order) {
    if (old_items.find(step) == nullptr) visit(step);
  }
}

void Comparer::value(const Schema* schema, const Json* before, const Json* after) {
  // Most of an object stays as it was.
  if (before != nullptr && after != nullptr && *before == *after) return;
  const Shape old_shape = before == nullptr ? Shape::kNull : shape_of(schema, *before);
  const Shape new_shape = after == nullptr ? Shape::kNull : shape_of(schema, *after);
  bool is_leaf = false;
  if (old_shape == Shape::kMap || new_shape == Shape::kMap) {
    is_leaf = is_empty(before, Json::value_t::object) && is_empty(after, Json::value_t::object);
    if (!is_leaf) map(schema, before, after);
  } else if (old_shape == Shape::kList || new_shape == Shape::kList) {
    is_leaf = is_empty(before, Json::value_t::array) && is_empty(after, Json::value_t::array);
    if (!is_leaf) list(*schema, before, after);
  }
  // A value that was a leaf and is none, or the reverse, has changed as such.
  is_leaf = is_leaf || old_shape == Shape::kLeaf || new_shape == Shape::kLeaf ||
            (old_shape == Shape::kNull && new_shape == Shape::kNull);
  if (is_leaf) return leaf(before, after);
  if (before == nullptr) out.added.insert(path_);
  if (after == nullptr) out.removed.insert(path_);
}

// -- merged

std::optional<Json> merge(const Schema* schema, const Json* object, const Json* intent);

std::optional<Json> merge_maps(const Schema* schema, const Json* object, const Json* intent) {
  Json out = Json::object();
  const auto put = [&](const std::string& name, const Json* left, const Json* right) {
    if (auto value = merge(child_of(schema, name), left, right)) out[name] = std::move(*value);
  };
  const bool has_left = object != nullptr && object->is_object();
  const bool has_right = intent != nullptr && intent->is_object();
  if (has_left) {
    for (const auto& [name, left] : object->items()) {
      const auto right = has_right ? intent->find(name) : Json::const_iterator();
      put(name, &left, has_right && right != intent->end() ? &*right : nullptr);
    }
  }
  if (has_right) {
    for (const auto& [name, right] : intent->items()) {
      if (!has_left || !object->contains(name)) put(name, nullptr, &right);
    }
  }
  if (out.empty()) return std::nullopt;
  return out;
}

/// Items of both: those of the intent in its order; others stay before the shared item that they stood before.
std::optional<Json> merge_lists(const Schema& schema, const Json* object, const Json* intent) {
  const Items left(schema, object);
  const Items right(schema, intent);
  Json out = Json::array();
  const auto put = [&](const Json* a, const Json* b) {
    if (auto value = merge(schema.items.get(), a, b)) out.push_back(std::move(*value));
  };
  const auto put_left = [&](const PathStep& step) {
    for (const Json* item : *left.find(step)) put(item, nullptr);
  };
  const auto put_right = [&](const PathStep& step) {
    const auto* old = left.find(step);
    // Of twins none is the one that is meant.
    put(old != nullptr && old->size() == 1 ? old->front() : nullptr, right.find(step)->front());
  };
  std::set<PathStep> done;
  std::size_t l = 0;
  std::size_t r = 0;
  std::size_t shared = 0;
  while (l < left.order.size() || r < right.order.size()) {
    while (shared < right.order.size() && (shared < r || left.find(right.order[shared]) == nullptr)) ++shared;
    if (l < left.order.size()) {
      const PathStep& step = left.order[l];
      const bool in_both = right.find(step) != nullptr;
      if (!in_both) {
        put_left(step);
        ++l;
        continue;
      }
      // A shared item whose turn comes with the intent's.
      if (shared < right.order.size() && right.order[shared] != step) {
        ++l;
        continue;
      }
      if (done.contains(step) || (r < right.order.size() && right.order[r] == step)) ++l;
    }
    if (r < right.order.size()) {
      put_right(right.order[r]);
      done.insert(right.order[r]);
      ++r;
    }
  }
  if (out.empty()) return std::nullopt;
  return out;
}

std::optional<Json> merge(const Schema* schema, const Json* object, const Json* intent) {
  const Json& leading = intent != nullptr && (!intent->is_null() || object == nullptr) ? *intent : *object;
  const Shape shape = shape_of(schema, leading);
  if (shape == Shape::kMap && !(is_empty(object, Json::value_t::object) && is_empty(intent, Json::value_t::object))) {
    return merge_maps(schema, object, intent);
  }
  if (shape == Shape::kList && !(is_empty(object, Json::value_t::array) && is_empty(intent, Json::value_t::array))) {
    return merge_lists(*schema, object, intent);
  }
  return intent != nullptr ? *intent : *object;
}

// -- without_fields

std::optional<Json> remove(const Schema* schema, const Json& value, const FieldSet& removed, const FieldSet* kept) {
  const Shape shape = shape_of(schema, value);
  if ((shape != Shape::kMap && shape != Shape::kList) || value.empty()) return value;
  Json out = shape == Shape::kMap ? Json::object() : Json::array();
  // No step: nothing says that it goes.
  const auto rest_of = [&](const Schema* inner, const PathStep* step, const Json& item) -> std::optional<Json> {
    const FieldSet* below = step == nullptr ? nullptr : removed.find(*step);
    if (below == nullptr) return item;
    if (below->member()) return std::nullopt;
    return remove(inner, item, *below, kept == nullptr ? nullptr : kept->find(*step));
  };
  if (shape == Shape::kMap) {
    for (const auto& [name, inner] : value.items()) {
      const PathStep step = PathStep::field(name);
      if (auto rest = rest_of(child_of(schema, name), &step, inner)) out[name] = std::move(*rest);
    }
  } else {
    for (const Json& item : value) {
      const auto step = step_of(*schema, item);
      if (auto rest = rest_of(schema->items.get(), step ? &*step : nullptr, item)) out.push_back(std::move(*rest));
    }
  }
  if (out.empty() && (kept == nullptr || !kept->member())) return std::nullopt;
  return out;
}

void add_named(const Schema* schema, FieldSet& set) {
  std::vector<PathStep> named;
  for (const auto& [step, inner] : set.below()) {
    (void)inner;
    named.push_back(step);
  }
  for (const PathStep& step : named) {
    FieldSet& inner = set.at(step);
    const Schema* child = nullptr;
    if (step.text.starts_with("f:")) {
      const std::string_view name = std::string_view(step.text).substr(2);
      child = child_of(schema, name);
      if (is_named(schema, name) && !inner.below().empty()) inner.set_member(true);
    } else if (schema != nullptr) {
      child = schema->items.get();
    }
    add_named(child, inner);
  }
}

std::string fault_below(const Schema* schema, const Json& value, const std::string& path) {
  const Shape shape = shape_of(schema, value);
  if (shape == Shape::kMap) {
    for (const auto& [name, inner] : value.items()) {
      if (std::string fault = fault_below(child_of(schema, name), inner, words({path, ".", name})); !fault.empty()) {
        return fault;
      }
    }
  }
  if (shape != Shape::kList) return {};
  std::set<PathStep> seen;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto step = step_of(*schema, value[i]);
    if (!step) {
      return words({path, ": element ", std::to_string(i), ": associative list has an element that lacks its keys"});
    }
    if (!seen.insert(*step).second) {
      return words({path, ": duplicate entries for key ", step->text.substr(2).substr(0, 256)});
    }
    if (std::string fault = fault_below(schema->items.get(), value[i], words({path, "[", std::to_string(i), "]"}));
        !fault.empty()) {
      return fault;
    }
  }
  return {};
}

}  // namespace

FieldSet fields_of(const Schema& schema, const Json& object) {
  FieldSet out;
  std::vector<PathStep> path;
  collect(&schema, object, path, out);
  return out;
}

Comparison compare(const Schema& schema, const Json& before, const Json& after) {
  Comparer comparer;
  comparer.value(&schema, &before, &after);
  return std::move(comparer.out);
}

Json merged(const Schema& schema, const Json& object, const Json& intent) {
  return merge(&schema, &object, &intent).value_or(Json::object());
}

Json without_fields(const Schema& schema, const Json& object, const FieldSet& removed, const FieldSet& kept) {
  return remove(&schema, object, removed, &kept).value_or(Json::object());
}

FieldSet with_named_fields(const Schema& schema, const FieldSet& set) {
  FieldSet out = set;
  add_named(&schema, out);
  return out;
}

std::string list_fault(const Schema& schema, const Json& object) { return fault_below(&schema, object, ""); }

}  // namespace edge::resource_api::objects
