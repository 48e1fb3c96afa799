// `edgectl validate -o sarif` has the shape of SARIF 2.1.0 (OASIS standard, §3): what code-scanning services refuse a
// file for is checked here, property by property. `-o json` has its fields, in order.
#include <filesystem>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cli/process.h"

namespace edge::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json validate(const std::string& format) {
  const TempDir dir;
  fs::create_directory_symlink(fs::path(EDGE_SOURCE_DIR) / "examples", dir.path() / "a b");
  const Finished got = run_command(
      {"/bin/sh", "-c", "edgectl validate -f 'a b/quick-start' -f 'a b/faults' -o " + format}, {}, dir.path());
  EXPECT_EQ(got.code, 1) << got.err;
  return Json::parse(got.out);
}

/// §3.29, §3.30.
void expect_physical(const Json& location) {
  const std::string uri = location.at("artifactLocation").at("uri");
  EXPECT_EQ(uri.find_first_of(" \\"), std::string::npos) << "RFC 3986 has neither: " << uri;
  EXPECT_FALSE(uri.starts_with('/')) << uri;
  const Json& region = location.at("region");
  const int start_line = region.at("startLine");
  const int end_line = region.at("endLine");
  const int start_column = region.at("startColumn");
  const int end_column = region.at("endColumn");
  EXPECT_GE(start_line, 1);
  EXPECT_GE(start_column, 1);
  EXPECT_GE(end_line, start_line);
  if (end_line == start_line) EXPECT_GE(end_column, start_column);
}

TEST(Sarif, HasTheShapeOfTheStandard) {
  const Json log = validate("sarif");
  EXPECT_EQ(log.at("version"), "2.1.0");                                            // §3.13.2
  EXPECT_TRUE(log.at("$schema").get<std::string>().ends_with("sarif-2.1.0.json"));  // §3.13.3
  ASSERT_EQ(log.at("runs").size(), 1U);
  const Json& run = log.at("runs")[0];
  EXPECT_EQ(run.at("columnKind"), "unicodeCodePoints");  // §3.14.17
  const Json& driver = run.at("tool").at("driver");      // §3.18
  EXPECT_EQ(driver.at("name"), "edgectl");
  std::set<std::string> rules;
  for (const Json& rule : driver.at("rules")) {  // §3.49: ids are unique
    EXPECT_TRUE(rules.insert(rule.at("id")).second);
    EXPECT_NE(rule.at("shortDescription").at("text"), "");
  }
  EXPECT_GE(run.at("results").size(), 3U);
  const std::set<std::string> levels = {"none", "note", "warning", "error"};  // §3.27.10
  for (const Json& result : run.at("results")) {
    EXPECT_TRUE(rules.contains(result.at("ruleId")));
    EXPECT_TRUE(levels.contains(result.at("level")));
    EXPECT_NE(result.at("message").at("text"), "");
    ASSERT_EQ(result.at("locations").size(), 1U);
    const Json& location = result.at("locations")[0];
    if (location.contains("physicalLocation")) expect_physical(location.at("physicalLocation"));
    for (const Json& logical : location.value("logicalLocations", Json::array())) {  // §3.33
      EXPECT_NE(logical.at("fullyQualifiedName"), "");
    }
    for (const Json& related : result.value("relatedLocations", Json::array())) {
      expect_physical(related.at("physicalLocation"));
      EXPECT_NE(related.at("message").at("text"), "");
    }
  }
}

TEST(JsonDiagnostics, HaveTheirFields) {
  const Json list = validate("json");
  ASSERT_TRUE(list.is_array());
  const std::set<std::string> wanted = {"code",   "severity", "message", "resource", "file", "line",
                                        "column", "field",    "notes",   "related",  "fix"};
  for (const Json& entry : list) {
    std::set<std::string> keys;
    for (const auto& [key, value] : entry.items()) keys.insert(key);
    EXPECT_EQ(keys, wanted);
    EXPECT_TRUE(entry.at("line").is_number() && entry.at("notes").is_array() && entry.at("fix").is_string());
  }
}

}  // namespace
}  // namespace edge::test
