// What deploy/ holds against the programs and tools that read it: rules and their tests by promtool, units by
// systemd-analyze, and every metric that anything there names by the table of metrics.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "metrics/family.h"
#include "tests/cli/process.h"

namespace edge::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::filesystem::path kDeploy = std::filesystem::path(EDGE_SOURCE_DIR) / "deploy";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool there(const std::string& program) { return run_command({"sh", "-c", "command -v " + program}).code == 0; }

/// What a scrape may hold: of a histogram its three series.
std::set<std::string> served_names() {
  std::set<std::string> names;
  for (const metrics::FamilyEntry& family : metrics::families()) {
    const std::string name(family.name);
    if (family.kind != metrics::Kind::kHistogram) {
      names.insert(name);
      continue;
    }
    for (const char* suffix : {"_bucket", "_sum", "_count"}) names.insert(name + suffix);
  }
  return names;
}

/// Recording rules have a colon before and behind the name.
std::set<std::string> named_in(const std::string& text) {
  std::set<std::string> names;
  static const std::regex kName(R"((^|[^\w:])((edge|process)_[a-z0-9_]+)(?![\w:]))");
  for (std::sregex_iterator match(text.begin(), text.end(), kName), end; match != end; ++match)
    names.insert((*match)[2]);
  return names;
}

void collect_expressions(const json& node, std::vector<std::string>& into) {
  if (node.is_object() && node.contains("expr")) into.push_back(node["expr"].get<std::string>());
  if (node.is_object() && node.contains("definition")) into.push_back(node["definition"].get<std::string>());
  for (const json& inner : node) {
    if (inner.is_structured()) collect_expressions(inner, into);
  }
}

/// The variables of a dashboard as something that a parser of queries takes.
std::string without_variables(std::string expression) {
  expression = std::regex_replace(expression, std::regex(R"(\$__rate_interval)"), "5m");
  return std::regex_replace(expression, std::regex(R"(\$\w+)"), ".*");
}

TEST(Deploy, NamesOnlyMetricsThatAreServed) {
  const std::set<std::string> served = served_names();
  std::size_t files = 0;
  for (const char* folder : {"prometheus", "grafana"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kDeploy / folder)) {
      std::string text = text_of(entry.path());
      if (entry.path().extension() == ".json") {
        std::vector<std::string> expressions;
        collect_expressions(json::parse(text), expressions);
        text.clear();
        for (const std::string& expression : expressions) text += without_variables(expression) + "\n";
      }
      ++files;
      for (const std::string& name : named_in(text)) EXPECT_TRUE(served.contains(name)) << entry.path() << ": " << name;
    }
  }
  EXPECT_GE(files, 6U);
}

/// All tests but this one.
std::string text_of_tests() {
  std::string text;
  const std::filesystem::path root(EDGE_SOURCE_DIR);
  for (const char* room : {"agent", "controller", "daemon", "metrics", "runtime", "tests"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / room)) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with("_test.cc") && name != "deploy_test.cc") text += text_of(entry.path());
    }
  }
  return text;
}

/// Whether a name stands in a text whole, or as one of a histogram's series.
bool stands_in(const std::string& text, const std::string& name) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += name.size()) {
    std::string_view rest = std::string_view(text).substr(at + name.size(), 8);
    for (const std::string_view series : {"_bucket", "_count", "_sum"}) {
      if (rest.starts_with(series)) rest.remove_prefix(series.size());
    }
    if (rest.empty() || (rest[0] != '_' && std::isalnum(static_cast<unsigned char>(rest[0])) == 0)) return true;
  }
  return false;
}

// What nothing looks at is sooner or later wrong.
TEST(Metrics, EachHasATestThatLooksAtIt) {
  const std::string tests = text_of_tests();
  for (const metrics::FamilyEntry& family : metrics::families()) {
    EXPECT_TRUE(stands_in(tests, std::string(family.name))) << family.name;
  }
}

TEST(Deploy, HasRulesThatPromtoolTakesAndWhoseTestsPass) {
  if (!there("promtool")) GTEST_SKIP() << "no promtool (Debian's package prometheus)";
  const std::filesystem::path folder = kDeploy / "prometheus";
  const Finished rules = run_command({"promtool", "check", "rules", "alerts.yaml", "recording.yaml"}, {}, folder);
  EXPECT_EQ(rules.code, 0) << rules.out << rules.err;
  const Finished config = run_command({"promtool", "check", "config", "prometheus.yaml"}, {}, folder);
  EXPECT_EQ(config.code, 0) << config.out << config.err;
  const Finished tests = run_command({"promtool", "test", "rules", "tests.yaml"}, {}, folder);
  EXPECT_EQ(tests.code, 0) << tests.out << tests.err;
}

TEST(Deploy, HasATestForEachAlert) {
  const std::string alerts = text_of(kDeploy / "prometheus/alerts.yaml");
  const std::string tests = text_of(kDeploy / "prometheus/tests.yaml");
  static const std::regex kAlert(R"(- alert: (\w+))");
  std::size_t count = 0;
  for (std::sregex_iterator match(alerts.begin(), alerts.end(), kAlert), end; match != end; ++match, ++count) {
    EXPECT_THAT(tests, HasSubstr("alertname: " + (*match)[1].str() + "\n"));
  }
  EXPECT_GT(count, 20U);
}

TEST(Deploy, HasDashboardsWhoseQueriesPrometheusTakes) {
  TempDir dir;
  for (const char* name : {"data-plane.json", "control-plane.json"}) {
    const json board = json::parse(text_of(kDeploy / "grafana" / name));
    std::set<int> ids;
    std::vector<std::string> expressions;
    for (const json& panel : board["panels"]) {
      EXPECT_TRUE(ids.insert(panel["id"].get<int>()).second) << name << ": an id twice";
      collect_expressions(panel, expressions);
      const json& position = panel["gridPos"];
      EXPECT_LE(position["x"].get<int>() + position["w"].get<int>(), 24) << panel["title"];
    }
    EXPECT_GT(expressions.size(), 20U);
    if (!there("promtool")) continue;
    // A file of rules is what promtool checks queries in.
    std::string rules = "groups:\n  - name: queries\n    rules:\n";
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      rules += "      - {record: 'query:" + std::to_string(i) +
               "', expr: " + json(without_variables(expressions[i])).dump() + "}\n";
    }
    dir.put("rules.yaml", rules);
    const Finished checked = run_command({"promtool", "check", "rules", dir / "rules.yaml"});
    EXPECT_EQ(checked.code, 0) << name << "\n" << checked.out << checked.err;
  }
}

TEST(Deploy, HasUnitsThatSystemdTakes) {
  for (const char* name : {"edge-agent", "edge-controller", "edge-standalone"}) {
    std::string unit = text_of(kDeploy / "systemd" / (std::string(name) + ".service"));
    for (const char* line : {"Type=notify\n", "WatchdogSec=", "NoNewPrivileges=yes\n", "ProtectSystem=strict\n",
                             "CapabilityBoundingSet=", "DynamicUser=yes\n"}) {
      EXPECT_THAT(unit, HasSubstr(line)) << name;
    }
    if (!there("systemd-analyze")) continue;
    TempDir dir;
    // It looks for the program where the unit says; here it is where it was built.
    const std::string installed = "/usr/bin/" + std::string(name);
    for (std::size_t at = 0; (at = unit.find(installed, at)) != std::string::npos;) {
      unit.replace(at, installed.size(), "/bin/true");
    }
    dir.put(std::string(name) + ".service", unit);
    const Finished checked =
        run_command({"systemd-analyze", "verify", "--man=no", dir / (std::string(name) + ".service")});
    EXPECT_EQ(checked.code, 0) << checked.err;
    EXPECT_THAT(checked.err, testing::Not(HasSubstr(name))) << "a warning";
  }
}

// `systemctl reload`: what takes over is what would be started, and returns when it serves (docs/upgrades.md).
TEST(Deploy, ReloadsAUnitByWhatItStarts) {
  for (const std::string name : {"edge-agent", "edge-standalone"}) {
    const std::string text = text_of(kDeploy / ("systemd/" + name + ".service"));
    const auto line = [&](const std::string& key) {
      const auto begin = text.find("\n" + key) + 1;
      return text.substr(begin + key.size(), text.find('\n', begin) - begin - key.size());
    };
    std::string reload = line("ExecReload=/usr/bin/" + name);
    const auto flag = reload.find(" --hand-over");
    ASSERT_NE(flag, std::string::npos) << name;
    EXPECT_EQ(reload.erase(flag, 12), line("ExecStart=/usr/bin/" + name)) << name;
    EXPECT_THAT(text, HasSubstr("\nNotifyAccess=all\n")) << "who takes over is not the main process yet";
  }
}

}  // namespace
}  // namespace edge::test
