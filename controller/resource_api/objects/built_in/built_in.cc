// Parses built_in/shapes.cc to OpenAPI schemas, and these to shapes.
#include "controller/resource_api/objects/built_in/built_in.h"

#include <map>

#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/built_in/shapes.h"
#include "controller/resource_api/objects/schema_parts.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

std::vector<std::string_view> tokens_of(std::string_view line) {
  std::vector<std::string_view> tokens;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.empty()) return tokens;
    const std::size_t end = std::min(line.find(' '), line.size());
    tokens.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

/// The parsed text: lines by type, types by kind.
struct Shapes {
  using Lines = std::vector<std::vector<std::string_view>>;
  std::map<std::string_view, Lines> types;
  std::map<std::string, std::string_view> kinds;

  Shapes() {
    std::string_view rest = kBuiltInShapes;
    Lines* lines = nullptr;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const bool is_field = rest.starts_with(' ');
      const auto tokens = tokens_of(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (tokens.empty()) continue;
      if (is_field) {
        lines->push_back(tokens);
      } else if (tokens[0] == "type") {
        lines = &types[tokens[1]];
      } else {
        kinds.emplace(words({tokens[1] == "-" ? "" : tokens[1], "/", tokens[2]}), tokens[3]);
      }
    }
  }
};

class Expander {
 public:
  explicit Expander(const Shapes& shapes) : shapes_(shapes) {}

  Json type(std::string_view name) const {
    Json schema = scalar(name);
    if (!schema.is_null()) return schema;
    if (name.starts_with('[')) {
      return {{"type", "array"}, {"items", type(name.substr(1, name.size() - 2))}};
    }
    if (name.starts_with('{')) {
      return {{"type", "object"}, {"additionalProperties", type(name.substr(1, name.size() - 2))}};
    }
    schema = {{"type", "object"}};
    for (const auto& line : shapes_.types.at(name)) {
      if (line[0] == "...") {
        schema["x-kubernetes-preserve-unknown-fields"] = true;
      } else {
        schema["properties"][std::string(line[0])] = field(line);
      }
    }
    return schema;
  }

 private:
  static Json scalar(std::string_view name) {
    if (name == "string") return {{"type", "string"}};
    if (name == "bytes") return {{"type", "string"}, {"format", "byte"}};
    if (name == "time") return {{"type", "string"}, {"format", "date-time"}};
    if (name == "int") return {{"type", "integer"}};
    if (name == "number") return {{"type", "number"}};
    if (name == "bool") return {{"type", "boolean"}};
    if (name == "intstr") return {{"x-kubernetes-int-or-string", true}};
    return nullptr;
  }

  Json field(const std::vector<std::string_view>& line) const {
    Json schema = type(line[1]);
    std::string strategy;
    for (std::size_t i = 2; i < line.size(); ++i) {
      const std::size_t equals = std::min(line[i].find('='), line[i].size());
      const std::string_view word = line[i].substr(0, equals);
      const std::string value(line[i].substr(std::min(equals + 1, line[i].size())));
      if (word == "map") {
        schema["x-kubernetes-list-type"] = "map";
        Json& keys = schema["x-kubernetes-list-map-keys"] = Json::array();
        const std::size_t comma = value.find(',');
        keys.push_back(value.substr(0, comma));
        if (comma != std::string::npos) keys.push_back(value.substr(comma + 1));
      } else if (word == "set") {
        schema["x-kubernetes-list-type"] = "set";
      } else if (word == "atomic") {
        schema["x-kubernetes-map-type"] = "atomic";
      } else if (word == "merge") {
        strategy += "merge";
        if (!value.empty()) schema["x-kubernetes-patch-merge-key"] = value;
      } else if (word == "retain") {
        strategy += strategy.empty() ? "retainKeys" : ",retainKeys";
      } else if (word == "default") {
        schema["default"] = value;
      }
    }
    if (!strategy.empty()) schema["x-kubernetes-patch-strategy"] = strategy;
    return schema;
  }

  const Shapes& shapes_;
};

const Shapes& shapes() {
  static const Shapes kShapes;
  return kShapes;
}

}  // namespace

const Schema& built_in_schema(std::string_view group, std::string_view kind) {
  static const std::map<std::string, SchemaPtr> kSchemas = [] {
    std::map<std::string, SchemaPtr> all;
    for (const auto& [name, type] : shapes().kinds) all.emplace(name, compile_trusted(Expander(shapes()).type(type)));
    return all;
  }();
  static const SchemaPtr kUnknown = schemaless();
  const auto found = kSchemas.find(words({group, "/", kind}));
  return found == kSchemas.end() ? *kUnknown : *found->second;
}

Json built_in_open_api(std::string_view group, std::string_view kind) {
  const auto found = shapes().kinds.find(words({group, "/", kind}));
  if (found == shapes().kinds.end()) return {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
  Json schema = Expander(shapes()).type(found->second);
  schema["properties"]["apiVersion"] = {{"type", "string"}};
  schema["properties"]["kind"] = {{"type", "string"}};
  schema["properties"]["metadata"] = {{"type", "object"}};
  return schema;
}

}  // namespace edge::resource_api::objects
