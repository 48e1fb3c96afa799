// Converts openAPIV3Schema to Schema. Violations of the rules of structural schemas are reported at their place; each
// rule is one `check_` function.
#include <algorithm>
#include <array>
#include <cmath>

#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/cel/cel.h"
#include "controller/resource_api/objects/schema.h"
#include "controller/resource_api/objects/schema_parts.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

constexpr int kMaxSchemaDepth = 64;
constexpr std::size_t kMaxNodes = 100'000;

/// Position of a schema, which determines what it must contain.
enum class SchemaPosition : std::uint8_t { kRoot, kField, kItems, kValues, kLogic, kLogicOfIntOrString };

bool in_logic(SchemaPosition position) {
  return position == SchemaPosition::kLogic || position == SchemaPosition::kLogicOfIntOrString;
}

constexpr std::array kForbidden = {"$ref",       "$schema",       "definitions", "dependencies",
                                   "deprecated", "discriminator", "id",          "patternProperties",
                                   "readOnly",   "writeOnly",     "xml",         "additionalItems"};

/// Beside what is forbidden everywhere: what allOf, anyOf, oneOf and not must leave to the schema around them.
constexpr std::array kForbiddenInLogic = {"description", "title", "default", "nullable", "additionalProperties"};

class Compiler {
 public:
  Compiler(Causes& causes, bool trusted, Checks checks) : causes_(causes), trusted_(trusted), checks_(checks) {}

  SchemaPtr compile(const Json& source, const std::string& path, SchemaPosition position, int depth);

 private:
  void fault(Cause cause) {
    if (causes_.size() < kMaxCauses) causes_.push_back(std::move(cause));
  }
  const Json* find(const Json& source, std::string_view name) {
    const auto found = source.find(name);
    return found == source.end() ? nullptr : &*found;
  }
  bool flag(const Json& source, const char* name, const std::string& path);
  std::string text(const Json& source, const char* name, const std::string& path);
  std::optional<double> number(const Json& source, const char* name, const std::string& path);
  std::optional<std::uint64_t> count(const Json& source, const char* name, const std::string& path);

  void read_type(const Json& source, const std::string& path, SchemaPosition position, Schema& out);
  void read_children(const Json& source, const std::string& path, SchemaPosition position, int depth, Schema& out);
  void read_list(const Json& source, const std::string& path, Schema& out);
  void read_extensions(const Json& source, const std::string& path, SchemaPosition position, Schema& out);
  void read_rules(const Json& source, const std::string& path, int depth, Schema& out);
  void read_bounds(const Json& source, const std::string& path, ValueRules& rules);
  void read_texts(const Json& source, const std::string& path, ValueRules& rules);
  void read_pattern(const std::string& regex, const std::string& path, ValueRules& rules);
  void read_logic(const Json& source, const std::string& path, int depth, bool int_or_string, ValueRules& rules);
  void read_cel(const Json& source, const std::string& path, ValueRules& rules);
  void read_default(const Json& source, const std::string& path, Schema& out);
  void check_keywords(const Json& source, const std::string& path, SchemaPosition position);
  void check_list_keys(const std::string& path, const Schema& out);
  void check_outside(const Schema& logic, const Schema& around, const std::string& path);

  Causes& causes_;
  bool trusted_;
  Checks checks_;
  std::size_t nodes_ = 0;
  std::map<std::string, std::shared_ptr<const Pattern>> patterns_;  ///< by their text
};

bool Compiler::flag(const Json& source, const char* name, const std::string& path) {
  const Json* value = find(source, name);
  if (value == nullptr) return false;
  if (!value->is_boolean()) fault(value_type_invalid(below(path, name), *value, "must be a boolean"));
  return *value == true;
}

std::string Compiler::text(const Json& source, const char* name, const std::string& path) {
  const Json* value = find(source, name);
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  fault(value_type_invalid(below(path, name), *value, "must be a string"));
  return {};
}

std::optional<double> Compiler::number(const Json& source, const char* name, const std::string& path) {
  const Json* value = find(source, name);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return value->get<double>();
  fault(value_type_invalid(below(path, name), *value, "must be a number"));
  return std::nullopt;
}

std::optional<std::uint64_t> Compiler::count(const Json& source, const char* name, const std::string& path) {
  const Json* value = find(source, name);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_unsigned()) return value->get<std::uint64_t>();
  fault(value_invalid(below(path, name), *value, "must be a whole number that is not negative"));
  return std::nullopt;
}

void Compiler::check_keywords(const Json& source, const std::string& path, SchemaPosition position) {
  if (trusted_) return;
  for (const char* name : kForbidden) {
    if (source.contains(name)) fault(value_forbidden(below(path, name), "must not be set"));
  }
  if (const Json* unique = find(source, "uniqueItems"); unique != nullptr && *unique == true) {
    fault(value_forbidden(below(path, "uniqueItems"),
                          "uniqueItems cannot be set to true since the runtime complexity "
                          "becomes quadratic"));
  }
  if (!in_logic(position)) return;
  for (const char* name : kForbiddenInLogic) {
    if (source.contains(name)) fault(value_forbidden(below(path, name), "must be undefined to be structural"));
  }
  if (position == SchemaPosition::kLogic && source.contains("type")) {
    fault(value_forbidden(below(path, "type"), "must be empty to be structural"));
  }
  for (const auto& [name, value] : source.items()) {
    if (name.starts_with("x-kubernetes-")) {
      fault(value_forbidden(below(path, name), "must be undefined to be structural"));
    }
  }
}

void Compiler::read_type(const Json& source, const std::string& path, SchemaPosition position, Schema& out) {
  const std::string type = text(source, "type", path);
  const bool int_or_string = flag(source, "x-kubernetes-int-or-string", path);
  out.preserve_unknown = flag(source, "x-kubernetes-preserve-unknown-fields", path);
  if (int_or_string) {
    out.type = SchemaType::kIntOrString;
    if (!type.empty()) {
      fault(value_invalid(below(path, "type"), type, "must be empty if x-kubernetes-int-or-string is true"));
    }
    return;
  }
  constexpr std::pair<std::string_view, SchemaType> kTypes[] = {
      {"object", SchemaType::kObject},   {"array", SchemaType::kArray},   {"string", SchemaType::kString},
      {"integer", SchemaType::kInteger}, {"number", SchemaType::kNumber}, {"boolean", SchemaType::kBoolean}};
  for (const auto& [name, value] : kTypes) {
    if (type == name) out.type = value;
  }
  const std::string at = below(path, "type");
  if (type.empty()) {
    if (trusted_ || in_logic(position) || (out.preserve_unknown && position != SchemaPosition::kRoot)) return;
    const char* where = position == SchemaPosition::kRoot    ? "must not be empty at the root"
                        : position == SchemaPosition::kItems ? "must not be empty for specified array items"
                                                             : "must not be empty for specified object fields";
    fault(value_required(at, where));
  } else if (out.type == SchemaType::kAny) {
    fault(value_not_supported(at, type, {"array", "boolean", "integer", "number", "object", "string"}));
  } else if (position == SchemaPosition::kRoot && out.type != SchemaType::kObject) {
    fault(value_invalid(at, type, "must be object at the root"));
  }
}

void Compiler::read_children(const Json& source, const std::string& path, SchemaPosition position, int depth,
                             Schema& out) {
  const SchemaPosition inside = in_logic(position) ? SchemaPosition::kLogic : SchemaPosition::kField;
  if (const Json* properties = find(source, "properties"); properties != nullptr) {
    const std::string at = below(path, "properties");
    if (!properties->is_object()) return fault(value_type_invalid(at, *properties, "must be an object"));
    for (const auto& [name, schema] : properties->items()) {
      out.properties.emplace(name, compile(schema, below_key(at, name), inside, depth + 1));
    }
  }
  if (const Json* additional = find(source, "additionalProperties"); additional != nullptr) {
    const std::string at = below(path, "additionalProperties");
    if (!trusted_ && !out.properties.empty()) {
      fault(value_forbidden(at, "additionalProperties and properties are mutual exclusive"));
    }
    if (additional->is_boolean()) {
      out.any_additional = *additional == true;
      if (!out.any_additional) fault(value_forbidden(at, "must not be false to be structural"));
    } else {
      out.additional = compile(*additional, at, SchemaPosition::kValues, depth + 1);
    }
  }
  if (const Json* items = find(source, "items"); items != nullptr) {
    const std::string at = below(path, "items");
    if (items->is_array()) return fault(value_forbidden(at, "must be a schema and not an array of them"));
    out.items = compile(*items, at, in_logic(position) ? SchemaPosition::kLogic : SchemaPosition::kItems, depth + 1);
  } else if (out.type == SchemaType::kArray && !in_logic(position) && !trusted_) {
    fault(value_required(below(path, "items"), "must be specified"));
  }
}

void Compiler::check_list_keys(const std::string& path, const Schema& out) {
  const std::string at = below(path, "x-kubernetes-list-map-keys");
  if (out.list_type != ListType::kMap) {
    if (!out.map_keys.empty()) {
      fault(value_forbidden(at, "must be empty if x-kubernetes-list-type is not map"));
    }
    return;
  }
  if (out.map_keys.empty()) {
    return fault(value_required(at, "must not be empty if x-kubernetes-list-type is map"));
  }
  if (trusted_ || out.items == nullptr) return;
  if (out.items->type != SchemaType::kObject) {
    return fault(value_invalid(below(path, "items.type"), "",
                               "must be object if parent array's "
                               "x-kubernetes-list-type is map"));
  }
  for (std::size_t i = 0; i < out.map_keys.size(); ++i) {
    const Schema* key = out.items->field(out.map_keys[i]);
    if (key == nullptr) {
      fault(value_invalid(below(at, i), out.map_keys[i], "entries must all be names of item properties"));
      continue;
    }
    if (key->type == SchemaType::kObject || key->type == SchemaType::kArray) {
      fault(value_invalid(below(path, "items.properties"), out.map_keys[i], "key properties must be scalars"));
    }
    const bool required =
        out.items->rules != nullptr &&
        std::ranges::find(out.items->rules->required, out.map_keys[i]) != out.items->rules->required.end();
    if (!required && key->default_value == nullptr) {
      fault(value_required(below_key(below(path, "items.properties"), out.map_keys[i]) + ".default",
                           "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required "
                           "property"));
    }
  }
}

void Compiler::read_list(const Json& source, const std::string& path, Schema& out) {
  const std::string at = below(path, "x-kubernetes-list-type");
  const std::string type = text(source, "x-kubernetes-list-type", path);
  if (const Json* keys = find(source, "x-kubernetes-list-map-keys"); keys != nullptr) {
    if (!keys->is_array())
      fault(value_type_invalid(below(path, "x-kubernetes-list-map-keys"), *keys, "must be a list"));
    for (const Json& key : *keys) {
      if (key.is_string()) out.map_keys.push_back(key.get<std::string>());
    }
  }
  if (type == "atomic") out.list_type = ListType::kAtomic;
  if (type == "set") out.list_type = ListType::kSet;
  if (type == "map") out.list_type = ListType::kMap;
  if (!type.empty() && out.list_type == ListType::kUnset) {
    fault(value_not_supported(at, type, {"atomic", "map", "set"}));
  }
  if (!type.empty() && out.type != SchemaType::kArray) {
    fault(value_invalid(below(path, "type"), "", "must be array if x-kubernetes-list-type is specified"));
  }
  check_list_keys(path, out);
  if (out.list_type != ListType::kSet || out.items == nullptr || trusted_) return;
  const Schema& item = *out.items;
  const bool whole = (item.type == SchemaType::kObject && item.atomic_map) ||
                     (item.type == SchemaType::kArray && item.list_type == ListType::kAtomic);
  if (item.nullable)
    fault(value_forbidden(below(path, "items.nullable"),
                          "cannot be nullable when x-kubernetes-list-type "
                          "is set"));
  if ((item.type == SchemaType::kObject || item.type == SchemaType::kArray) && !whole) {
    fault(value_invalid(below(path, "items"), "",
                        "must be scalar or atomic as item of a list with "
                        "x-kubernetes-list-type=set"));
  }
}

void Compiler::read_extensions(const Json& source, const std::string& path, SchemaPosition position, Schema& out) {
  out.nullable = flag(source, "nullable", path);
  out.embedded_resource = flag(source, "x-kubernetes-embedded-resource", path);
  if (const Json* kept = find(source, "x-kubernetes-preserve-unknown-fields"); kept != nullptr && *kept == false) {
    fault(value_invalid(below(path, "x-kubernetes-preserve-unknown-fields"), *kept, "must be true or undefined"));
  }
  if (out.embedded_resource && !trusted_) {
    if (out.type != SchemaType::kObject) {
      fault(value_invalid(below(path, "type"), "", "must be object if x-kubernetes-embedded-resource is true"));
    } else if (out.properties.empty() && !out.preserve_unknown) {
      fault(value_required(below(path, "properties"),
                           "must not be empty if x-kubernetes-embedded-resource is true "
                           "without x-kubernetes-preserve-unknown-fields"));
    }
  }
  const std::string map_type = text(source, "x-kubernetes-map-type", path);
  out.atomic_map = map_type == "atomic";
  if (!map_type.empty() && map_type != "atomic" && map_type != "granular") {
    fault(value_not_supported(below(path, "x-kubernetes-map-type"), map_type, {"atomic", "granular"}));
  }
  if (!map_type.empty() && out.type != SchemaType::kObject) {
    fault(value_invalid(below(path, "type"), "", "must be object if x-kubernetes-map-type is specified"));
  }
  if (trusted_) {
    const std::string strategy = text(source, "x-kubernetes-patch-strategy", path);
    out.patch_merges = strategy.find("merge") != std::string::npos;
    out.patch_retains_keys = strategy.find("retainKeys") != std::string::npos;
    out.patch_merge_key = text(source, "x-kubernetes-patch-merge-key", path);
  }
  if (!in_logic(position)) read_list(source, path, out);
}

void Compiler::read_bounds(const Json& source, const std::string& path, ValueRules& rules) {
  if (const auto low = number(source, "minimum", path)) {
    rules.minimum = NumberBound{*low, flag(source, "exclusiveMinimum", path)};
  }
  if (const auto high = number(source, "maximum", path)) {
    rules.maximum = NumberBound{*high, flag(source, "exclusiveMaximum", path)};
  }
  rules.multiple_of = number(source, "multipleOf", path);
  if (rules.multiple_of && !(*rules.multiple_of > 0)) {
    fault(value_invalid(below(path, "multipleOf"), *rules.multiple_of, "must be greater than 0"));
    rules.multiple_of.reset();
  }
  rules.min_length = count(source, "minLength", path);
  rules.max_length = count(source, "maxLength", path);
  rules.min_items = count(source, "minItems", path);
  rules.max_items = count(source, "maxItems", path);
  rules.min_properties = count(source, "minProperties", path);
  rules.max_properties = count(source, "maxProperties", path);
}

void Compiler::read_texts(const Json& source, const std::string& path, ValueRules& rules) {
  rules.format = text(source, "format", path);
  if (const std::string regex = text(source, "pattern", path); !regex.empty()) read_pattern(regex, path, rules);
  if (const Json* values = find(source, "enum"); values != nullptr) {
    if (values->is_array() && !values->empty()) {
      rules.values = std::make_shared<const Json>(*values);
    } else {
      fault(value_type_invalid(below(path, "enum"), *values, "must be a list that is not empty"));
    }
  }
  if (const Json* names = find(source, "required"); names != nullptr) {
    if (!names->is_array()) return fault(value_type_invalid(below(path, "required"), *names, "must be a list"));
    for (const Json& name : *names) {
      if (name.is_string()) rules.required.push_back(name.get<std::string>());
    }
  }
}

void Compiler::read_pattern(const std::string& regex, const std::string& path, ValueRules& rules) {
  std::shared_ptr<const Pattern>& known = patterns_[regex];
  if (known == nullptr) known = std::make_shared<const Pattern>(regex);
  rules.pattern = known;
  const std::string error = checks_ == Checks::kAll ? known->fault() : std::string();
  if (error.empty()) return;
  fault(
      value_invalid(below(path, "pattern"), regex, words({"must be a valid regular expression, but isn't: ", error})));
  rules.pattern.reset();
}

void Compiler::read_logic(const Json& source, const std::string& path, int depth, bool int_or_string,
                          ValueRules& rules) {
  const SchemaPosition position = int_or_string ? SchemaPosition::kLogicOfIntOrString : SchemaPosition::kLogic;
  const std::pair<const char*, std::vector<SchemaPtr>*> lists[] = {
      {"allOf", &rules.all_of}, {"anyOf", &rules.any_of}, {"oneOf", &rules.one_of}};
  for (const auto& [name, out] : lists) {
    const Json* list = find(source, name);
    if (list == nullptr) continue;
    const std::string at = below(path, name);
    if (!list->is_array()) {
      fault(value_type_invalid(at, *list, "must be a list"));
      continue;
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
      out->push_back(compile((*list)[i], below(at, i), position, depth + 1));
    }
  }
  if (const Json* negated = find(source, "not"); negated != nullptr) {
    rules.negated = compile(*negated, below(path, "not"), position, depth + 1);
  }
}

void Compiler::read_cel(const Json& source, const std::string& path, ValueRules& rules) {
  const Json* list = find(source, "x-kubernetes-validations");
  if (list == nullptr) return;
  const std::string at = below(path, "x-kubernetes-validations");
  if (!list->is_array()) return fault(value_type_invalid(at, *list, "must be a list"));
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& entry = (*list)[i];
    const std::string here = below(at, i);
    if (!entry.is_object() || text(entry, "rule", here).empty()) {
      fault(value_required(below(here, "rule"), "rule is not specified"));
      continue;
    }
    // A rule of more than is evaluated here is kept by a cluster alone (docs/resource-api.md).
    if (auto rule = CelRule::parse(entry)) rules.cel.push_back(std::move(rule));
  }
}

/// What logic says of a field, the schema around it must know as a field.
void Compiler::check_outside(const Schema& logic, const Schema& around, const std::string& path) {
  for (const auto& [name, inner] : logic.properties) {
    const Schema* outer = around.field(name);
    if (outer == nullptr && around.additional != nullptr) outer = around.additional.get();
    const std::string at = below_key(below(path, "properties"), name);
    if (outer == nullptr) {
      if (!around.preserve_unknown && !around.any_additional)
        fault(value_required(at,
                             "must be specified outside of the "
                             "value validation"));
      continue;
    }
    if (inner != nullptr) check_outside(*inner, *outer, at);
  }
  if (logic.items != nullptr && around.items != nullptr)
    check_outside(*logic.items, *around.items, below(path, "items"));
}

void Compiler::read_rules(const Json& source, const std::string& path, int depth, Schema& out) {
  auto rules = std::make_shared<ValueRules>();
  read_bounds(source, path, *rules);
  read_texts(source, path, *rules);
  read_logic(source, path, depth, out.type == SchemaType::kIntOrString, *rules);
  read_cel(source, path, *rules);
  rules->unique_items = flag(source, "uniqueItems", path);
  constexpr const char* kAnyRule[] = {"minimum",
                                      "maximum",
                                      "multipleOf",
                                      "minLength",
                                      "maxLength",
                                      "minItems",
                                      "maxItems",
                                      "format",
                                      "pattern",
                                      "minProperties",
                                      "maxProperties",
                                      "enum",
                                      "required",
                                      "allOf",
                                      "anyOf",
                                      "oneOf",
                                      "not",
                                      "uniqueItems",
                                      "x-kubernetes-validations"};
  const bool any = std::ranges::any_of(kAnyRule, [&](const char* name) { return source.contains(name); });
  if (any) out.rules = std::move(rules);
}

void Compiler::read_default(const Json& source, const std::string& path, Schema& out) {
  const Json* value = find(source, "default");
  if (value == nullptr) return;
  const std::string at = below(path, "default");
  if (!trusted_) {
    Causes found;
    validate_at(out, *value, at, found);
    for (Cause& cause : found) fault(std::move(cause));
  }
  out.default_value = std::make_shared<const Json>(*value);
}

SchemaPtr Compiler::compile(const Json& source, const std::string& path, SchemaPosition position, int depth) {
  auto out = std::make_shared<Schema>();
  if (!source.is_object()) {
    fault(value_type_invalid(path, source, "must be an object"));
    return out;
  }
  if (depth > kMaxSchemaDepth || ++nodes_ > kMaxNodes) {
    if (depth > kMaxSchemaDepth || nodes_ == kMaxNodes + 1) fault(value_forbidden(path, "the schema is too large"));
    return out;
  }
  check_keywords(source, path, position);
  read_type(source, path, position, *out);
  read_children(source, path, position, depth, *out);
  read_extensions(source, path, position, *out);
  read_rules(source, path, depth, *out);
  if (!in_logic(position)) {
    read_default(source, path, *out);
    if (out->rules != nullptr && !trusted_) {
      const ValueRules& rules = *out->rules;
      for (const auto* list : {&rules.all_of, &rules.any_of, &rules.one_of}) {
        for (const SchemaPtr& one : *list) check_outside(*one, *out, path);
      }
      if (rules.negated != nullptr) check_outside(*rules.negated, *out, path);
    }
  }
  return out;
}

/// Every resource has these, whatever its schema says of them.
SchemaPtr with_resource_fields(SchemaPtr compiled) {
  static const SchemaPtr kText = [] {
    auto text = std::make_shared<Schema>();
    text->type = SchemaType::kString;
    return text;
  }();
  auto root = std::make_shared<Schema>(*compiled);
  root->properties.insert_or_assign("apiVersion", kText);
  root->properties.insert_or_assign("kind", kText);
  root->properties.insert_or_assign("metadata", metadata_schema());
  return root;
}

}  // namespace

SchemaPtr compile_schema(const Json& open_api, std::string_view path, Causes& causes, Checks checks) {
  const std::size_t before = causes.size();
  SchemaPtr compiled = Compiler(causes, false, checks).compile(open_api, std::string(path), SchemaPosition::kRoot, 0);
  if (causes.size() != before) return nullptr;
  return with_resource_fields(std::move(compiled));
}

SchemaPtr compile_trusted(const Json& open_api) {
  Causes causes;
  SchemaPtr compiled = Compiler(causes, true, Checks::kWithoutPatterns).compile(open_api, "", SchemaPosition::kRoot, 0);
  assert(causes.empty());
  return with_resource_fields(std::move(compiled));
}

const SchemaPtr& metadata_schema() {
  static const SchemaPtr kMetadata = [] {
    const Json text = {{"type", "string"}};
    const Json number = {{"type", "integer"}};
    const Json texts = {{"type", "object"}, {"additionalProperties", text}};
    const Json owner = {{"type", "object"},
                        {"x-kubernetes-map-type", "atomic"},
                        {"properties",
                         {{"apiVersion", text},
                          {"kind", text},
                          {"name", text},
                          {"uid", text},
                          {"controller", {{"type", "boolean"}}},
                          {"blockOwnerDeletion", {{"type", "boolean"}}}}}};
    const Json source = {
        {"type", "object"},
        {"properties",
         {{"name", text},
          {"generateName", text},
          {"namespace", text},
          {"selfLink", text},
          {"uid", text},
          {"resourceVersion", text},
          {"generation", number},
          {"creationTimestamp", {{"type", "string"}, {"format", "date-time"}, {"nullable", true}}},
          {"deletionTimestamp", {{"type", "string"}, {"format", "date-time"}, {"nullable", true}}},
          {"deletionGracePeriodSeconds", number},
          {"labels", texts},
          {"annotations", texts},
          {"ownerReferences",
           {{"type", "array"},
            {"items", owner},
            {"x-kubernetes-list-type", "map"},
            {"x-kubernetes-list-map-keys", {"uid"}},
            {"x-kubernetes-patch-strategy", "merge"},
            {"x-kubernetes-patch-merge-key", "uid"}}},
          {"finalizers",
           {{"type", "array"},
            {"items", text},
            {"x-kubernetes-list-type", "set"},
            {"x-kubernetes-patch-strategy", "merge"}}},
          {"managedFields",
           {{"type", "array"}, {"items", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}}}};
    Causes causes;
    SchemaPtr compiled = Compiler(causes, true, Checks::kWithoutPatterns).compile(source, "", SchemaPosition::kRoot, 0);
    assert(causes.empty());
    return compiled;
  }();
  return kMetadata;
}

}  // namespace edge::resource_api::objects
