// Every file of tests/runtime/cases is a test: real sockets, scripted upstreams, the compiled configuration.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/runtime/case_run.h"

namespace edge::test {
namespace {

std::vector<std::string> case_paths() {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("tests/runtime/cases", error)) {
    if (entry.path().extension() == ".case") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Runtime : public testing::TestWithParam<std::string> {};

TEST_P(Runtime, Case) {
  const Result<CaseFile> file = read_case(GetParam());
  ASSERT_TRUE(file.ok()) << file.error().text;
  const std::string failure = CaseRun(*file).run();
  EXPECT_EQ(failure, "") << GetParam();
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, Runtime, testing::ValuesIn(case_paths()), name_of);

TEST(RuntimeCases, AreFound) { EXPECT_GE(case_paths().size(), 20u) << "run from the source directory"; }

}  // namespace
}  // namespace edge::test
