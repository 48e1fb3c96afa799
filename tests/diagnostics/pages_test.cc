// Every code has a page, every page an example that really produces the code, and every code a golden case.
// EDGE_UPDATE_PAGES=1 (the target update-pages) writes what the compiler says into the pages; read the diff.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <set>

#include <gtest/gtest.h>

#include "base/diagnostics.h"
#include "tests/diagnostics/page.h"

namespace edge::diagnostics {
namespace {

namespace fs = std::filesystem;

struct Code {
  int number;
  const char* name;
  const char* title;
  friend void PrintTo(const Code& code, std::ostream* out) { *out << code.name; }
};
constexpr Code kCodes[] = {
#define EDGE_DIAGNOSTIC(number, name, title) {number, #name, title},
#include "base/diagnostic_codes.def"
#undef EDGE_DIAGNOSTIC
};

fs::path root() { return EDGE_SOURCE_DIR; }

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string text_of(const Code& code) { return code_text(static_cast<DiagnosticCode>(code.number)); }
fs::path page_of(const Code& code) { return root() / "docs/diagnostics" / (text_of(code) + ".md"); }

/// All that golden cases are expected to report.
const std::string& golden_diagnostics() {
  static const std::string kAll = [] {
    std::string all;
    for (const auto& entry : fs::recursive_directory_iterator(root() / "tests/golden")) {
      if (entry.path().filename() == "diagnostics.txt") all += read_text(entry.path());
    }
    return all;
  }();
  return kAll;
}

bool updating() { return std::getenv("EDGE_UPDATE_PAGES") != nullptr; }

class Pages : public testing::TestWithParam<Code> {};

TEST_P(Pages, TellWhatTheCodeMeansAndShowIt) {
  const fs::path path = page_of(GetParam());
  ASSERT_TRUE(fs::exists(path)) << path << " is missing (its form: tests/diagnostics/page.h)";
  const std::string text = read_text(path);
  const Page page = parse_page(text);
  EXPECT_EQ(page.title_line, "# " + text_of(GetParam()) + ": " + GetParam().title);
  EXPECT_NE(page.meaning, "");
  EXPECT_NE(page.mend, "");
  if (!page.shown_by.empty()) return;
  ASSERT_NE(page.yaml, "") << path;
  const std::string shown = diagnose(page.yaml, text_of(GetParam()));
  ASSERT_NE(shown, "") << "the example of " << path << " does not produce the code";
  if (updating()) {
    std::ofstream(path, std::ios::binary) << with_shown(text, shown);
  } else {
    EXPECT_EQ(page.shown, shown) << path;
  }
}

TEST_P(Pages, AreProvedByAGoldenCaseOrTheTestTheyName) {
  const Page page = parse_page(read_text(page_of(GetParam())));
  if (page.shown_by.empty()) {
    EXPECT_NE(golden_diagnostics().find("[" + text_of(GetParam()) + "]"), std::string::npos)
        << "no golden case produces " << text_of(GetParam());
    return;
  }
  const std::string test = read_text(root() / page.shown_by);
  EXPECT_TRUE(test.find(GetParam().name) != std::string::npos || test.find(text_of(GetParam())) != std::string::npos)
      << page.shown_by << " does not speak of " << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(All, Pages, testing::ValuesIn(kCodes),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Pages, AreOfCodesAlone) {
  std::set<fs::path> known;
  for (const Code& code : kCodes) known.insert(page_of(code).filename());
  for (const auto& entry : fs::directory_iterator(root() / "docs/diagnostics")) {
    EXPECT_TRUE(known.contains(entry.path().filename())) << entry.path() << " is the page of no code";
  }
}

TEST(Codes, Ascend) {
  EXPECT_EQ(std::ranges::adjacent_find(kCodes, std::ranges::greater_equal(), &Code::number), std::end(kCodes));
}

}  // namespace
}  // namespace edge::diagnostics
