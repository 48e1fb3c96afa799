// Command lines with what they print. One text file a case, below cases/:
//
//   # what is claimed
//   --- file config.yaml
//   (the file's text)
//   --- api                     (starts the embedded resource API; KUBECONFIG names it, HOME is the case's folder)
//   --- standalone              (the same with controller and agent, of edge-standalone)
//   $ edgectl validate -f config.yaml
//   exit 1                      (0 when left out)
//   --- stdin
//   --- stdout
//   --- stderr
//
// Output that is not listed must be empty. A line `~ REGEX` matches by regular expression, a line `...` any number of
// lines. Several `$` steps share the folder. EDGE_UPDATE_CLI=1 writes what was printed into the file; read the diff.
#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <memory>

#include <gtest/gtest.h>

#include "tests/cli/expected_lines.h"
#include "tests/cli/process.h"

namespace edge::test {
namespace {

namespace fs = std::filesystem;

struct Block {
  std::string head;  ///< the line that opens it: a comment, `$ …`, `exit …` or `--- …`
  std::vector<std::string> lines;
};

struct Step {
  std::string command;
  int exit = 0;
  std::string input;
  std::vector<std::string> out;
  std::vector<std::string> err;
};

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<Block> blocks_of(const fs::path& path) {
  std::vector<Block> blocks;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const bool in_text = !blocks.empty() && blocks.back().head.starts_with("--- ");
    const bool opens = line.starts_with("--- ") || line.starts_with("$ ") ||
                       (!in_text && (line.starts_with("#") || line.starts_with("exit ") || line.empty()));
    if (opens) {
      blocks.push_back({line, {}});
    } else if (!blocks.empty()) {
      blocks.back().lines.push_back(line);
    }
  }
  return blocks;
}

class CliCase : public testing::TestWithParam<std::string> {
 protected:
  fs::path path() const { return fs::path(EDGE_SOURCE_DIR) / "tests/cli/cases" / (GetParam() + ".case"); }

  void check(const Step& step, std::string& rewritten) {
    const Finished got = run_command({"/bin/sh", "-c", environment_ + step.command}, step.input, dir_.path());
    rewritten += "$ " + step.command + "\n";
    const bool code = got.code == step.exit;
    const bool out = fits(step.out, lines_of(got.out));
    const bool err = fits(step.err, lines_of(got.err));
    if (got.code != 0) rewritten += "exit " + std::to_string(got.code) + "\n";
    if (!step.input.empty()) rewritten += "--- stdin\n" + step.input;
    const std::string new_out = out ? joined(step.out) : got.out;
    const std::string new_err = err ? joined(step.err) : got.err;
    if (!new_out.empty()) rewritten += "--- stdout\n" + new_out;
    if (!new_err.empty()) rewritten += "--- stderr\n" + new_err;
    if (updating()) return;
    EXPECT_EQ(got.code, step.exit) << step.command;
    EXPECT_TRUE(code && out) << step.command << "\nstdout is:\n" << got.out << "\nand should be:\n" << joined(step.out);
    EXPECT_TRUE(code && err) << step.command << "\nstderr is:\n" << got.err << "\nand should be:\n" << joined(step.err);
  }

  /// Lives as long as the case.
  void start_api(bool whole) {
    const std::string data = (dir_.path() / "api").string();
    // The API alone ends with its standard input: a pipe that it holds open itself never ends.
    const std::string script = R"(mkfifo "$1.in" && exec serve_resource_api "$1" <>"$1.in")";
    std::vector<std::string> command = {"/bin/sh", "-c", script, "sh", data};
    if (whole) {
      command = {(bin_dir() / "edge-standalone").string(), "--data-dir", data, "--ephemeral-ports", "--threads", "1"};
      for (const char* flag :
           {"--api-listen", "--otlp-listen", "--traces-listen", "--metrics-listen", "--health-listen"}) {
        command.insert(command.end(), {flag, "127.0.0.1:0"});
      }
    }
    api_ = std::make_unique<Process>(command);
    ASSERT_TRUE(whole ? api_->wait_err("connected to the controller") : api_->wait_out("https://")) << api_->err_text();
    environment_ = "export KUBECONFIG='" + data + "/kubeconfig' HOME='" + dir_.path().string() + "'; ";
  }

  static bool updating() { return std::getenv("EDGE_UPDATE_CLI") != nullptr; }

  TempDir dir_;
  std::unique_ptr<Process> api_;
  std::string environment_;
};

TEST_P(CliCase, PrintsWhatItSays) {
  const std::vector<Block> blocks = blocks_of(path());
  ASSERT_FALSE(blocks.empty());
  fs::create_directory_symlink(fs::path(EDGE_SOURCE_DIR) / "examples", dir_.path() / "examples");
  fs::create_directory_symlink(fs::path(EDGE_SOURCE_DIR) / "tests/traces/data", dir_.path() / "traces");
  std::string rewritten;
  for (std::size_t i = 0; i < blocks.size();) {
    const Block& block = blocks[i++];
    if (block.head == "--- api" || block.head == "--- standalone") {
      rewritten += block.head + "\n";
      ASSERT_NO_FATAL_FAILURE(start_api(/*whole=*/block.head == "--- standalone"));
    } else if (block.head.starts_with("--- file ")) {
      dir_.put(block.head.substr(9), joined(block.lines));
      rewritten += block.head + "\n" + joined(block.lines);
    } else if (!block.head.starts_with("$ ")) {
      ASSERT_TRUE(block.head.empty() || block.head.starts_with("#")) << "what is this: " << block.head;
      rewritten += block.head + "\n";
    } else {
      Step step{.command = block.head.substr(2), .exit = 0, .input = {}, .out = {}, .err = {}};
      for (; i < blocks.size(); ++i) {
        const Block& part = blocks[i];
        if (part.head.starts_with("exit ")) {
          step.exit = std::stoi(part.head.substr(5));
        } else if (part.head == "--- stdin") {
          step.input = joined(part.lines);
        } else if (part.head == "--- stdout") {
          step.out = part.lines;
        } else if (part.head == "--- stderr") {
          step.err = part.lines;
        } else {
          break;
        }
      }
      check(step, rewritten);
    }
  }
  if (updating()) std::ofstream(path()) << rewritten;
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(EDGE_SOURCE_DIR) / "tests/cli/cases")) {
    if (entry.path().extension() == ".case") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, CliCase, testing::ValuesIn(case_names()), test_name);

}  // namespace
}  // namespace edge::test
