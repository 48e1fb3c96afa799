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

/// Those that say so go over HTTP/2 as well.
class RuntimeOverHttp2 : public testing::TestWithParam<std::string> {};

TEST_P(RuntimeOverHttp2, Case) {
  const Result<CaseFile> file = read_case(GetParam());
  ASSERT_TRUE(file.ok()) << file.error().text;
  const std::string failure = CaseRun(*file, Spoken::kHttp2).run();
  EXPECT_EQ(failure, "") << GetParam();
}

std::vector<std::string> http2_case_paths() {
  std::vector<std::string> paths;
  for (const std::string& path : case_paths()) {
    const Result<CaseFile> file = read_case(path);
    if (file.ok() && goes_over_http2(*file)) paths.push_back(path);
  }
  return paths;
}

/// Whether a case says nothing that only plain text could: it has no listener, backend or scheme of its own.
bool goes_over(const CaseFile& file, Over over) {
  for (const Section& section : file.sections) {
    if (section.kind == "over" && section.argument == "plain") return false;
    if (section.text.find("kind: ProxyGateway") != std::string::npos) return false;
    if (over == Over::kTlsBothWays && section.text.find("kind: ProxyBackend") != std::string::npos) return false;
  }
  return true;
}

std::vector<std::string> case_paths_over(Over over) {
  std::vector<std::string> paths;
  for (const std::string& path : case_paths()) {
    const Result<CaseFile> file = read_case(path);
    if (file.ok() && goes_over(*file, over)) paths.push_back(path);
  }
  return paths;
}

class RuntimeOverTls : public testing::TestWithParam<std::string> {};

TEST_P(RuntimeOverTls, Case) {
  const Result<CaseFile> file = read_case(GetParam());
  ASSERT_TRUE(file.ok()) << file.error().text;
  EXPECT_EQ(CaseRun(*file, Spoken::kHttp1, Over::kTls).run(), "") << GetParam();
}

class RuntimeOverTlsBothWays : public testing::TestWithParam<std::string> {};

TEST_P(RuntimeOverTlsBothWays, Case) {
  const Result<CaseFile> file = read_case(GetParam());
  ASSERT_TRUE(file.ok()) << file.error().text;
  EXPECT_EQ(CaseRun(*file, Spoken::kHttp1, Over::kTlsBothWays).run(), "") << GetParam();
}

/// What browsers do.
class RuntimeOverHttp2AndTls : public testing::TestWithParam<std::string> {};

TEST_P(RuntimeOverHttp2AndTls, Case) {
  const Result<CaseFile> file = read_case(GetParam());
  ASSERT_TRUE(file.ok()) << file.error().text;
  EXPECT_EQ(CaseRun(*file, Spoken::kHttp2, Over::kTls).run(), "") << GetParam();
}

std::vector<std::string> http2_case_paths_over_tls() {
  std::vector<std::string> paths = case_paths_over(Over::kTls);
  const std::vector<std::string> all = http2_case_paths();
  std::erase_if(paths, [&](const std::string& path) { return !std::binary_search(all.begin(), all.end(), path); });
  return paths;
}

std::string name_of(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, Runtime, testing::ValuesIn(case_paths()), name_of);
INSTANTIATE_TEST_SUITE_P(Cases, RuntimeOverHttp2, testing::ValuesIn(http2_case_paths()), name_of);
INSTANTIATE_TEST_SUITE_P(Cases, RuntimeOverTls, testing::ValuesIn(case_paths_over(Over::kTls)), name_of);
INSTANTIATE_TEST_SUITE_P(Cases, RuntimeOverTlsBothWays, testing::ValuesIn(case_paths_over(Over::kTlsBothWays)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Cases, RuntimeOverHttp2AndTls, testing::ValuesIn(http2_case_paths_over_tls()), name_of);

TEST(RuntimeCases, AreFound) { EXPECT_GE(case_paths().size(), 20u) << "run from the source directory"; }

}  // namespace
}  // namespace edge::test
