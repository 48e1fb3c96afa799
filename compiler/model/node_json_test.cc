#include "compiler/model/node_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/yaml/read.h"

namespace edge::compiler::model {
namespace {

std::string json_text(const std::string& yaml) {
  SourceMap sources;
  Diagnostics diagnostics;
  const std::uint32_t source = sources.add("test", yaml);
  const auto documents = yaml::read_documents(sources, source, diagnostics);
  if (documents.empty() || !diagnostics.ok()) return "none";
  return json_of(documents.front().root()).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

TEST(NodeJson, TypesPlainScalarsByTheCoreSchema) {
  EXPECT_EQ(json_text("[1, -2, +3, 0x1f, 0o17, 18446744073709551615, 007]"), "[1,-2,3,31,15,18446744073709551615,7]");
  EXPECT_EQ(json_text("[1.5, 1e3, -0.25, .5]"), "[1.5,1000.0,-0.25,0.5]");
  EXPECT_EQ(json_text("[true, False, yes, off, null, ~, Null]"), R"([true,false,"yes","off",null,null,null])");
  EXPECT_EQ(json_text("[.inf, -.inf, .nan, 1e999]"), R"([".inf","-.inf",".nan","1e999"])");
  EXPECT_EQ(json_text("[1.2.3, 10s, 1_000, 0x, 2026-01-01]"), R"(["1.2.3","10s","1_000","0x","2026-01-01"])");
  EXPECT_EQ(json_text("99999999999999999999"), "1e+20");
}

TEST(NodeJson, QuotedAndBlockScalarsAreStrings) {
  EXPECT_EQ(json_text("a: \"1\"\nb: 'true'\nc: |\n  null\nd: ''"), R"({"a":"1","b":"true","c":"null\n","d":""})");
}

TEST(NodeJson, KeepsStructure) {
  EXPECT_EQ(json_text("a:\n  b: [{c: 1}, {}]\n  1: x\n  e:\n"), R"({"a":{"1":"x","b":[{"c":1},{}],"e":null}})");
}

}  // namespace
}  // namespace edge::compiler::model
