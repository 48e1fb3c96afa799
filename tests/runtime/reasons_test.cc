// docs/reasons.md against the cases and the code: every word is told there, and shown in a log by what the page names.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runtime/phase/failure.h"
#include "tests/runtime/case_run.h"

namespace edge::test {
namespace {

constexpr const char* kPage = "docs/reasons.md";

std::string content(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

/// What stands in backticks.
std::vector<std::string> quoted(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream pieces(text);
  std::string piece;
  for (bool inside = false; std::getline(pieces, piece, '`'); inside = !inside) {
    if (inside) words.push_back(piece);
  }
  return words;
}

struct Row {
  std::vector<std::string> words;
  std::vector<std::string> shown_by;
};

std::vector<Row> rows() {
  std::vector<Row> rows;
  std::istringstream lines(content(kPage));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::size_t first = line.find('|', 1);
    rows.push_back({quoted(line.substr(0, first)), quoted(line.substr(line.rfind('|', line.size() - 2)))});
  }
  return rows;
}

/// A case that wants the word in an answer, or in the log: `field X-Edge-Reason: W`, `== refuse 400 W`, `reason=W`; or,
/// of a test in C++, an answer with this reason.
bool shows(const std::string& name, const std::string& word) {
  if (name.ends_with(".cc")) return content(name).find("answer.reason, \"" + word + "\"") != std::string::npos;
  std::istringstream lines(content(name.ends_with(".md") ? "docs/" + name : "tests/runtime/cases/" + name + ".case"));
  for (std::string line; std::getline(lines, line);) {
    const bool asked = line.starts_with("field X-Edge-Reason: ") || line.starts_with("== refuse ");
    if (asked && line.ends_with(" " + word)) return true;
    if (line.starts_with("logged ") && (line + " ").find(" reason=" + word + " ") != std::string::npos) return true;
  }
  return false;
}

std::set<std::string> reported() {
  const std::vector<std::string> all = quoted(content(kPage));
  return {all.begin(), all.end()};
}

TEST(Reasons, AreShownByWhatThePageNames) {
  const std::vector<Row> all = rows();
  EXPECT_GE(all.size(), 40U) << "run from the source directory";
  for (const Row& row : all) {
    for (const std::string& word : row.words) {
      EXPECT_TRUE(std::ranges::any_of(row.shown_by, [&](const std::string& name) { return shows(name, word); }))
          << word;
    }
  }
}

TEST(Reasons, OfAllCasesAreTold) {
  const std::set<std::string> known = reported();
  for (const auto& entry : std::filesystem::directory_iterator("tests/runtime/cases")) {
    const Result<CaseFile> file = read_case(entry.path().string());
    ASSERT_TRUE(file.ok()) << file.error().text;
    for (const std::string& word : reasons_of(*file)) EXPECT_TRUE(known.contains(word)) << word << " of " << file->name;
  }
}

TEST(Reasons, OfFailuresAreTold) {
  const std::set<std::string> known = reported();
  for (int kind = 1; kind <= static_cast<int>(runtime::FailureKind::kCancelled); ++kind) {
    const auto failure = static_cast<runtime::FailureKind>(kind);
    for (const std::string_view word : {runtime::answer_for(failure).reason, runtime::loss_of(failure)}) {
      EXPECT_TRUE(word.empty() || known.contains(std::string(word))) << word;
    }
  }
}

TEST(Reasons, OfHeadsAreTold) {
  // The first is none, two are of responses.
  const std::set<std::string> others = {"", "bad-status-line", "unexpected-framing"};
  const std::set<std::string> known = reported();
#define EDGE_HEAD_FAULT(name, status, reason, text) \
  EXPECT_TRUE(known.contains(reason) || others.contains(reason)) << (reason);
#include "net/http1/head_faults.def"
#undef EDGE_HEAD_FAULT
}

}  // namespace
}  // namespace edge::test
