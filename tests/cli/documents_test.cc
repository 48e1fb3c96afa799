// What the documents show is what the programs print: every `$ edgectl …` of a console block is run as it stands and
// its output compared with the lines below it. A line `...` stands for any number of lines.
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/cli/expected_lines.h"
#include "tests/cli/process.h"

namespace edge::test {
namespace {

namespace fs = std::filesystem;

struct Shown {
  std::string command;
  std::vector<std::string> output;
};

std::vector<Shown> shown_in(const fs::path& document) {
  std::vector<Shown> all;
  std::ifstream in(document);
  bool console = false;
  bool taken = false;  // the lines belong to a command that is run here
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("```")) {
      console = line == "```console";
      taken = false;
    } else if (console && line.starts_with("$ ")) {
      taken = line.starts_with("$ edgectl ");
      if (taken) all.push_back({line.substr(2), {}});
    } else if (console && taken) {
      all.back().output.push_back(line);
    }
  }
  return all;
}

class Document : public testing::TestWithParam<const char*> {};

TEST_P(Document, ShowsWhatIsPrinted) {
  const TempDir dir;
  fs::create_directory_symlink(fs::path(EDGE_SOURCE_DIR) / "examples", dir.path() / "examples");
  const auto all = shown_in(fs::path(EDGE_SOURCE_DIR) / GetParam());
  EXPECT_FALSE(all.empty());
  for (const Shown& shown : all) {
    const Finished got = run_command({"/bin/sh", "-c", shown.command + " 2>&1"}, {}, dir.path());
    EXPECT_TRUE(fits(shown.output, lines_of(got.out))) << GetParam() << ": $ " << shown.command << "\n" << got.out;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Document,
                         testing::Values("README.md", "docs/edgectl.md", "docs/examples.md", "docs/testing-routes.md",
                                         "docs/diff.md"),
                         [](const auto& info) {
                           std::string name = fs::path(info.param).stem().string();
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace edge::test
