// What people mistype in YAML, and what they are told. One file a mistake, cases/<mistake>.txt: the text, a line
// `#### told`, and the first diagnostic of it, compared byte for byte. EDGE_UPDATE_YAML_MISTAKES=1 writes the latter.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/compile.h"
#include "compiler/yaml/read.h"

namespace edge::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kTold = "#### told\n";

struct Case {
  std::string text;
  std::string reported;
};

fs::path folder() { return fs::path(EDGE_SOURCE_DIR) / "tests/yaml_mistakes/cases"; }

Case read_case(const std::string& name) {
  std::ifstream in(folder() / (name + ".txt"), std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::size_t at = all.find(kTold);
  if (at == std::string::npos) return {all, {}};
  return {all.substr(0, at), all.substr(at + kTold.size())};
}

std::string first_told(const std::string& text) {
  SourceMap sources;
  sources.add("mistake.yaml", text);
  Diagnostics diagnostics;
  compiler::read_config(sources, diagnostics);
  diagnostics.finish(sources);
  return diagnostics.all().empty() ? std::string() : render(diagnostics.all().front(), sources, Colour::kNo);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder())) all.push_back(entry.path().stem().string());
  std::ranges::sort(all);
  return all;
}

class YamlMistake : public testing::TestWithParam<std::string> {};

TEST_P(YamlMistake, IsToldWithItsCause) {
  const Case mistake = read_case(GetParam());
  const std::string reported = first_told(mistake.text);
  if (std::getenv("EDGE_UPDATE_YAML_MISTAKES") != nullptr) {
    std::ofstream(folder() / (GetParam() + ".txt"), std::ios::binary) << mistake.text << kTold << reported;
    return;
  }
  EXPECT_EQ(reported, mistake.reported);
  EXPECT_THAT(reported, HasSubstr("error[EDGE0"));
}

/// The same text with every document a Secret: no word of it may be in what is told.
TEST_P(YamlMistake, CitesNothingOfASecret) {
  std::string text = read_case(GetParam()).text;
  for (const char* kind : {"ProxyGateway", "ProxyRoute", "ProxyBackend"}) {
    for (std::size_t at = text.find(kind); at != std::string::npos; at = text.find(kind)) {
      text.replace(at, std::string_view(kind).size(), "Secret");
    }
  }
  SourceMap sources;
  Diagnostics diagnostics;
  const auto documents = compiler::yaml::read_documents(sources, sources.add("secret.yaml", text), diagnostics);
  diagnostics.finish(sources);
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    // A key that is given twice is no value.
    if (diagnostic.code == DiagnosticCode::kDuplicateKey) continue;
    const std::string reported = render(diagnostic, sources, Colour::kNo);
    for (const char* word : {"shop.example", "demo", "8080", "edge\"", "edgeproxy", "http", "touch", "team"}) {
      EXPECT_THAT(reported, Not(HasSubstr(word))) << reported;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, YamlMistake, testing::ValuesIn(names()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(YamlMistakes, AreSixtyAtLeast) { EXPECT_GE(names().size(), 60U); }

}  // namespace
}  // namespace edge::test
