#include "controller/resource_api/objects/schema.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/schema_parts.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

bool of_every_resource(std::string_view name) { return name == "apiVersion" || name == "kind" || name == "metadata"; }

/// Removes unknown fields, and reports them.
class Pruner {
 public:
  explicit Pruner(std::vector<std::string>* reported) : told_(reported) {}

  void value(const Schema& schema, Json& value, const std::string& path) {
    if (value.is_object()) {
      object(schema, value, path);
    } else if (value.is_array() && schema.items != nullptr) {
      for (std::size_t i = 0; i < value.size(); ++i)
        this->value(*schema.items, value[i], told_ ? below(path, i) : path);
    }
  }

 private:
  void object(const Schema& schema, Json& value, const std::string& path) {
    for (auto at = value.begin(); at != value.end();) {
      const std::string& name = at.key();
      const Schema* known = schema.field(name);
      if (known == nullptr) known = schema.additional.get();
      if (schema.embedded_resource && of_every_resource(name)) {
        if (name == "metadata") this->value(*metadata_schema(), *at, told_ ? below(path, name) : path);
      } else if (known != nullptr) {
        this->value(*known, *at, told_ ? below(path, name) : path);
      } else if (!schema.open()) {
        if (told_ != nullptr && told_->size() < kMaxCauses) told_->push_back(below(path, name));
        at = value.erase(at);
        continue;
      }
      ++at;
    }
  }

  std::vector<std::string>* told_;
};

}  // namespace

const Schema* Schema::field(std::string_view name) const {
  const auto found = properties.find(name);
  return found == properties.end() ? nullptr : found->second.get();
}

SchemaPtr schemaless() {
  static const SchemaPtr kAny = [] {
    auto schema = std::make_shared<Schema>();
    schema->type = SchemaType::kObject;
    schema->preserve_unknown = true;
    schema->properties.emplace("metadata", metadata_schema());
    return schema;
  }();
  return kAny;
}

void apply_defaults(const Schema& schema, Json& object) {
  if (object.is_array() && schema.items != nullptr) {
    for (Json& item : object) apply_defaults(*schema.items, item);
    return;
  }
  if (!object.is_object()) return;
  for (const auto& [name, field] : schema.properties) {
    auto at = object.find(name);
    if (field->default_value != nullptr && (at == object.end() || (at->is_null() && !field->nullable))) {
      object[name] = *field->default_value;
      at = object.find(name);
    }
    if (at != object.end()) apply_defaults(*field, *at);
  }
  if (schema.additional == nullptr) return;
  for (auto& [name, value] : object.items()) {
    if (schema.additional->default_value != nullptr && value.is_null() && !schema.additional->nullable) {
      value = *schema.additional->default_value;
    }
    apply_defaults(*schema.additional, value);
  }
}

bool has_defaults(const Schema& schema) {
  const auto holds = [](const SchemaPtr& part) {
    return part != nullptr && (part->default_value != nullptr || has_defaults(*part));
  };
  return holds(schema.items) || holds(schema.additional) ||
         std::ranges::any_of(schema.properties, [&](const auto& property) { return holds(property.second); });
}

void prune(const Schema& schema, Json& object, std::vector<std::string>* dropped) {
  Pruner(dropped).value(schema, object, "");
}

std::vector<std::string> unknown_fields(const Schema& schema, const Json& object) {
  std::vector<std::string> reported;
  Json copy = object;
  Pruner(&reported).value(schema, copy, "");
  return reported;
}

}  // namespace edge::resource_api::objects
