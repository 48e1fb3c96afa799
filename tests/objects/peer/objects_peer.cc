// Does with objects what objects_test.go asks: a line of JSON for each question, one for each answer.
//   {"schema":{...}}                                                   the kind of what follows
//   {"op":"apply|update|strategic","live":{}|null,"object":{},"manager":"m","force":true}
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "controller/resource_api/objects/apply.h"
#include "controller/resource_api/objects/patch.h"
#include "controller/resource_api/objects/schema_parts.h"

using namespace edge::resource_api::objects;

namespace {

Json answer_of(const StatusError& error) {
  if (error.causes.empty()) return {{"error", error.message}};
  Json conflicts = Json::array();
  for (const Cause& cause : error.causes) conflicts.push_back(cause.message + " " + cause.field);
  return {{"conflicts", conflicts}};
}

Json answer(const Schema& schema, const Json& question) {
  const Json& live = question.at("live");
  const Json* before = live.is_null() ? nullptr : &live;
  Json object = question.at("object");
  const std::string op = question.at("op");
  Writer writer;
  writer.manager = question.value("manager", "");
  writer.api_version = "e.com/v1";
  writer.time = "2024-01-01T00:00:00Z";
  if (op == "strategic") {
    auto patched = strategic_merge_patch(live, object, schema);
    return patched ? Json{{"object", *patched}} : answer_of(patched.error());
  }
  if (op == "apply") {
    auto applied = apply(schema, before, object, writer, question.value("force", false));
    return applied ? Json{{"object", *applied->object}} : answer_of(applied.error());
  }
  track(schema, before, object, writer);
  return {{"object", object}};
}

}  // namespace

int main() {
  SchemaPtr schema = schemaless();
  for (std::string line; std::getline(std::cin, line);) {
    const Json question = Json::parse(line, nullptr, false);
    if (question.is_discarded()) return 2;
    if (question.contains("schema")) {
      schema = compile_trusted(question["schema"]);
      continue;
    }
    std::cout << answer(*schema, question).dump() << std::endl;
  }
  return 0;
}
