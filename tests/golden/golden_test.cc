// Runs every case below tests/golden. EDGE_UPDATE_GOLDEN=1 (the target update-golden) rewrites what is expected.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/golden/golden_case.h"

namespace edge::golden {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kShuffles = 3;

bool updating() { return std::getenv("EDGE_UPDATE_GOLDEN") != nullptr; }

/// Empty for a program that serves nothing.
std::string program_text(const CaseResult& result) {
  const auto found = result.outputs.find("program.txt");
  return found == result.outputs.end() ? std::string() : found->second;
}

constexpr std::string_view kDiagnostics = "diagnostics.txt";
constexpr std::string_view kRoutes = "routes.txt";

/// What diagnostics.txt holds of a case of which nothing is reported.
constexpr std::string_view kSilence = "0 errors, 0 warnings\n";

/// A case goes on keeping the texts that it keeps, what is reported and what its requests lead to; a new case gets all.
void rewrite(const fs::path& expected, const std::map<std::string, std::string>& kept, const CaseResult& result) {
  fs::remove_all(expected);
  fs::create_directories(expected);
  for (const auto& [name, text] : result.outputs) {
    const bool always = name == kDiagnostics ? text != kSilence : name == kRoutes;
    if (kept.empty() || kept.contains(name) || always) std::ofstream(expected / name, std::ios::binary) << text;
  }
}

void compare(const fs::path& expected, const std::map<std::string, std::string>& kept, const CaseResult& result) {
  EXPECT_FALSE(kept.empty()) << expected << " keeps no text";
  for (const auto& [name, text] : kept) {
    const auto output = result.outputs.find(name);
    ASSERT_NE(output, result.outputs.end()) << (expected / name) << " is there, but nothing writes it";
    EXPECT_EQ(text, output->second) << (expected / name);
  }
  if (!kept.contains(std::string(kDiagnostics))) EXPECT_EQ(result.outputs.at(std::string(kDiagnostics)), kSilence);
  EXPECT_EQ(kept.contains(std::string(kRoutes)), result.outputs.contains(std::string(kRoutes)))
      << expected << ": requests.txt and routes.txt go together";
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, IsAsExpected) {
  const fs::path folder = fs::path(EDGE_GOLDEN_DIR) / GetParam();
  const std::string input = read_text(folder / "input.yaml");
  const CaseResult& result = result_of(GetParam());
  EXPECT_EQ(result.disagreements, "");
  for (std::uint32_t seed = 1; seed <= kShuffles; ++seed) {
    const CaseResult shuffled = run_case(shuffle_documents(input, seed), {});
    ASSERT_EQ(result.program == nullptr, shuffled.program == nullptr) << "documents shuffled with seed " << seed;
    if (result.program == nullptr) continue;
    EXPECT_EQ(program_text(result), program_text(shuffled)) << "shuffled with seed " << seed;
    EXPECT_TRUE(*result.program == *shuffled.program) << "other bytes when shuffled with seed " << seed;
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name == "input.yaml" || name == "requests.txt" || name == "expected")
        << entry.path() << " is not known";
  }
  if (updating()) {
    rewrite(folder / "expected", kept_texts(GetParam()), result);
  } else {
    compare(folder / "expected", kept_texts(GetParam()), result);
  }
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(case_names()), test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Golden);

}  // namespace
}  // namespace edge::golden
