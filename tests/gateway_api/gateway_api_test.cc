// The table of docs/gateway-api.md against the names and features of Gateway API's official tests, against the cases
// that it names, and against what our GatewayClasses say of themselves; and the table of docs/ingress.md.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "compiler/link/supported_features.h"
#include "edgectl/reports/conformance_report.h"

namespace edge {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = EDGE_SOURCE_DIR;

struct OfficialTest {
  std::vector<std::string> features;
  bool provisional = false;
};

/// `features`: all names of features; `tests`: each [name, [features], "prov" or ""].
nlohmann::json suite() {
  std::ifstream file(kSource / "tests/gateway_api/official_tests.json");
  return nlohmann::json::parse(file);
}

std::map<std::string, OfficialTest> official_tests() {
  std::map<std::string, OfficialTest> tests;
  const nlohmann::json all = suite();
  for (const auto& entry : all.at("tests")) {
    tests[entry.at(0)] = {entry.at(1).get<std::vector<std::string>>(), entry.at(2) == "prov"};
  }
  return tests;
}

/// Name of the test -> what holds it.
std::multimap<std::string, std::string> table() {
  std::ifstream page(kSource / "docs/gateway-api.md");
  std::multimap<std::string, std::string> rows;
  bool begun = false;
  for (std::string line; std::getline(page, line);) {
    if (line == "| test | held by |") begun = true;
    std::smatch row;
    static const std::regex kRow(R"(\| (\w+) \| (.*) \|)");
    if (begun && std::regex_match(line, row, kRow) && row[1] != "test") rows.emplace(row[1], row[2]);
  }
  return rows;
}

bool is_held(const std::string& by) { return !by.starts_with("no: "); }

TEST(GatewayApi, TheTableHasEachOfficialTestOnce) {
  std::vector<std::string> expected;
  for (const auto& [name, test] : official_tests()) expected.push_back(name);
  std::vector<std::string> reported;
  for (const auto& [name, by] : table()) reported.push_back(name);
  EXPECT_EQ(reported, expected);
}

TEST(GatewayApi, EachRowNamesACaseOrSaysWhyThereIsNone) {
  static const std::regex kPath("`([^`]+)`");
  for (const auto& [name, by] : table()) {
    if (!is_held(by)) continue;
    const auto begin = std::sregex_iterator(by.begin(), by.end(), kPath);
    EXPECT_NE(begin, std::sregex_iterator()) << name << " names no case";
    for (auto path = begin; path != std::sregex_iterator(); ++path) {
      EXPECT_TRUE(fs::exists(kSource / "tests" / (*path)[1].str())) << name << " names " << (*path)[1];
    }
  }
}

TEST(IngressTable, EachScenarioNamesACase) {
  std::ifstream page(kSource / "docs/ingress.md");
  static const std::regex kPath("`([^`]+)`");
  std::size_t scenarios = 0;
  bool begun = false;
  for (std::string line; std::getline(page, line);) {
    if (!begun || !line.starts_with("| ")) {
      begun = line == "| feature | scenario | held by |" || (begun && line.starts_with("|---"));
      continue;
    }
    ++scenarios;
    const std::string by = line.substr(line.rfind(" | "));
    const auto first = std::sregex_iterator(by.begin(), by.end(), kPath);
    EXPECT_NE(first, std::sregex_iterator()) << line << " names no case";
    for (auto path = first; path != std::sregex_iterator(); ++path) {
      EXPECT_TRUE(fs::exists(kSource / "tests" / (*path)[1].str())) << line;
    }
  }
  EXPECT_GE(scenarios, 10U);
}

TEST(GatewayApi, FeaturesAreSupportedWhoseTestsAreHeld) {
  const auto& features = compiler::link::kSupportedFeatures;
  EXPECT_TRUE(std::is_sorted(features.begin(), features.end()));
  const std::set<std::string, std::less<>> supported(features.begin(), features.end());
  EXPECT_EQ(supported.size(), features.size());
  const auto rows = table();
  std::set<std::string, std::less<>> tested;
  for (const auto& [name, test] : official_tests()) {
    const bool asked = std::ranges::all_of(test.features, [&](const auto& f) { return supported.contains(f); });
    const auto row = rows.find(name);
    if (row == rows.end()) continue;
    // "...NotSupported" asks something of those alone that lack a feature.
    if (name.ends_with("NotSupported")) continue;
    EXPECT_EQ(is_held(row->second), asked) << name;
    if (asked) tested.insert(test.features.begin(), test.features.end());
  }
  const auto names = suite().at("features").get<std::set<std::string>>();
  for (const std::string& feature : supported) {
    EXPECT_TRUE(names.contains(feature)) << feature << " is no name of the suite";
    const bool asked = std::ranges::any_of(official_tests(), [&](const auto& test) {
      return std::ranges::find(test.second.features, feature) != test.second.features.end();
    });
    EXPECT_EQ(tested.contains(feature), asked) << feature;
  }
}

/// script/check-conformance writes the report anew; it is to be run when a feature is added, or its tests.
TEST(GatewayApi, TheReportHasWhatIsSupportedAndNoFault) {
  const auto report = edgectl::read_conformance_report(edgectl::conformance_report_text());
  ASSERT_TRUE(report) << report.error().text;
  EXPECT_EQ(report->version, suite().at("version").get<std::string>());
  EXPECT_EQ(report->channel, "experimental");
  std::vector<std::string> claimed;
  for (const auto& profile : compiler::link::kConformanceProfiles) {
    if (compiler::link::is_supported(profile.route)) claimed.emplace_back(profile.name);
  }
  std::vector<std::string> told;
  std::set<std::string, std::less<>> features;
  for (const auto& profile : report->profiles) {
    told.push_back(profile.name);
    features.insert(profile.supported.begin(), profile.supported.end());
    for (const auto* tests : {&profile.core, &profile.extended}) {
      EXPECT_EQ(tests->result, "success") << profile.name;
      EXPECT_GT(tests->passed, 0U) << profile.name;
      EXPECT_EQ(tests->failed, 0U) << profile.name;
      EXPECT_EQ(tests->skipped, 0U) << profile.name;
    }
    for (const std::string& feature : profile.unsupported) {
      EXPECT_FALSE(compiler::link::is_supported(feature)) << feature << " was not tested";
    }
  }
  EXPECT_EQ(told, claimed);
  for (const std::string& feature : features) EXPECT_TRUE(compiler::link::is_supported(feature)) << feature;
}

}  // namespace
}  // namespace edge
