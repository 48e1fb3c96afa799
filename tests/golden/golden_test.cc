// Runs every case below tests/golden. EDGE_UPDATE_GOLDEN=1 (the target update-golden) rewrites what is expected.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "tests/golden/golden_case.h"

namespace edge::golden {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kShuffles = 3;

bool updating() { return std::getenv("EDGE_UPDATE_GOLDEN") != nullptr; }

std::string read_text(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Folders with an input.yaml, as paths relative to tests/golden, sorted.
std::vector<std::string> case_names() {
  std::set<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(EDGE_GOLDEN_DIR)) {
    if (entry.path().filename() != "input.yaml") continue;
    names.insert(fs::relative(entry.path().parent_path(), EDGE_GOLDEN_DIR).string());
  }
  return {names.begin(), names.end()};
}

/// Empty for a program that serves nothing.
std::string program_text(const CaseResult& result) {
  const auto found = result.outputs.find("program.txt");
  return found == result.outputs.end() ? std::string() : found->second;
}

void rewrite(const fs::path& expected, const CaseResult& result) {
  fs::remove_all(expected);
  fs::create_directories(expected);
  for (const auto& [name, text] : result.outputs) std::ofstream(expected / name, std::ios::binary) << text;
}

void compare(const fs::path& expected, const CaseResult& result) {
  std::set<std::string> present;
  if (fs::is_directory(expected)) {
    for (const auto& entry : fs::directory_iterator(expected)) present.insert(entry.path().filename().string());
  }
  for (const auto& [name, text] : result.outputs) {
    EXPECT_TRUE(present.contains(name)) << (expected / name) << " is missing; it would hold:\n" << text;
    if (present.contains(name)) EXPECT_EQ(read_text(expected / name), text) << (expected / name);
  }
  for (const std::string& name : present) {
    EXPECT_TRUE(result.outputs.contains(name)) << (expected / name) << " is there, but nothing writes it";
  }
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, IsAsExpected) {
  const fs::path folder = fs::path(EDGE_GOLDEN_DIR) / GetParam();
  const std::string input = read_text(folder / "input.yaml");
  const CaseResult result = run_case(input, read_text(folder / "requests.txt"));
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
    rewrite(folder / "expected", result);
  } else {
    compare(folder / "expected", result);
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
