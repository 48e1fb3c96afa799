#include "edgectl/web/api/field_tables.h"

#include <deque>
#include <unordered_map>
#include <utility>

#include <nlohmann/json.hpp>

#include "schemas/describe.h"

namespace edge::edgectl::web {
namespace {

using OrderedJson = nlohmann::ordered_json;

class Tables {
 public:
  std::size_t index_of(const schemas::Object& object) {
    const auto [at, fresh] = indices_.try_emplace(&object, kFirst + indices_.size());
    if (fresh) waiting_.push_back(&object);
    return at->second;
  }

  /// Appends the tables of all objects that were named, in the order of their indices.
  void append_all(OrderedJson& out) {
    while (!waiting_.empty()) {
      const schemas::Object& object = *waiting_.front();
      waiting_.pop_front();
      OrderedJson fields = OrderedJson::array();
      for (const schemas::Field& field : object.fields) fields.push_back(field_json(field));
      out.push_back(std::move(fields));
    }
  }

  OrderedJson field_json(const schemas::Field& field) {
    OrderedJson json = {
        {"name", field.name}, {"type", schemas::type_text(field)},       {"list", field.type == schemas::Type::kList},
        {"text", field.text}, {"remarks", schemas::remarks_text(field)}, {"required", field.required},
        {"object", nullptr}};
    OrderedJson values = OrderedJson::array();
    for (const std::string_view value : field.values) values.push_back(value);
    const bool boolean = field.type == schemas::Type::kBoolean;
    if (boolean) values = {"true", "false"};
    json["values"] = std::move(values);
    if (field.object != nullptr) json["object"] = index_of(*field.object);
    return json;
  }

 private:
  static constexpr std::size_t kFirst = 1;  ///< after the root
  std::unordered_map<const schemas::Object*, std::size_t> indices_;
  std::deque<const schemas::Object*> waiting_;
};

OrderedJson plain_field(const char* name, const char* text) {
  return {{"name", name},          {"type", "string"}, {"list", false},     {"text", text},
          {"remarks", "required"}, {"required", true}, {"object", nullptr}, {"values", OrderedJson::array()}};
}

}  // namespace

OrderedJson field_tables_json(const schemas::Kind& kind) {
  Tables tables;
  OrderedJson root = OrderedJson::array();
  root.push_back(plain_field("apiVersion", "Group and version of the kind."));
  root.back()["values"].push_back(kind.api_version);
  root.push_back(plain_field("kind", "The kind."));
  root.back()["values"].push_back(kind.kind);
  OrderedJson metadata = plain_field("metadata", "Name, namespace, labels and annotations.");
  metadata["type"] = "object";
  metadata["object"] = tables.index_of(schemas::metadata());
  root.push_back(std::move(metadata));
  if (kind.body != nullptr) {
    for (const schemas::Field& field : kind.body->fields) {
      if (field.name != "status") root.push_back(tables.field_json(field));
    }
  }
  OrderedJson objects = OrderedJson::array();
  objects.push_back(std::move(root));
  tables.append_all(objects);
  return {{"kind", kind.kind}, {"objects", std::move(objects)}};
}

}  // namespace edge::edgectl::web
