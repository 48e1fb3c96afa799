// Every example of the pages in docs/ holds: it compiles, and where the page says what it does, it does that.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/docs/page_examples.h"
#include "tests/runtime/case_run.h"
#include "tests/support/proxy.h"

namespace edge::test {
namespace {

class Docs : public testing::TestWithParam<PageExample> {};

TEST_P(Docs, Example) {
  const PageExample& example = GetParam();
  if (example.script.sections.empty()) {
    const auto compiled = compile_text(example.name, expand_config(example.configuration, {}));
    EXPECT_TRUE(compiled.ok()) << (compiled.ok() ? "" : compiled.error().text);
  } else {
    EXPECT_EQ(CaseRun(example.script).run(), "") << "docs/" << example.name;
    if (!goes_over_http2(example.script)) return;
    EXPECT_EQ(CaseRun(example.script, Spoken::kHttp2).run(), "") << "docs/" << example.name << " over HTTP/2";
  }
}

std::string name_of(const testing::TestParamInfo<PageExample>& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Pages, Docs, testing::ValuesIn(page_examples("docs")), name_of);

TEST(DocsExamples, AreFound) { EXPECT_GE(page_examples("docs").size(), 15U) << "run from the source directory"; }

}  // namespace
}  // namespace edge::test
