// Which texts the golden cases keep: few enough that a new line of a dump moves few files, and enough that no word that
// a dump can write is out of sight.
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/golden/golden_case.h"

namespace edge::golden {
namespace {

/// Most files that one new line of a dump may move.
constexpr std::size_t kMostFiles = 31;

/// A text of a stage, and the sources that write it.
struct Dump {
  std::string text;
  std::vector<std::string> sources;
};

const std::vector<Dump>& dumps() {
  static const std::vector<Dump> all = {
      {"conditions.txt", {"compiler/link/dump/conditions_text.cc"}},
      {"linked.txt", {"compiler/link/dump/dump.cc", "compiler/link/dump/dump_settings.cc", "program/filter_table.h"}},
      {"ir.txt", {"compiler/ir/dump.cc"}},
      {"program.txt",
       {"program/dump/dump.cc", "program/dump/predicate_text.cc", "program/dump/route_tree.cc",
        "program/dump/settings_tree.cc", "program/filter_table.h"}},
  };
  return all;
}

void add_words(const std::string& text, std::set<std::string>& words) {
  static const std::regex word("[A-Za-z][A-Za-z-]+");
  for (std::sregex_iterator found(text.begin(), text.end(), word), end; found != end; ++found)
    words.insert(found->str());
}

/// The words of the string literals of a source, but for the paths of what it includes, and for the sentences of
/// explanations, which have places like `{value}`.
std::set<std::string> written_words(const std::string& source) {
  static const std::regex literal(R"re((#include )?"((?:[^"\\\n]|\\.)*)")re");
  std::set<std::string> words;
  for (std::sregex_iterator found(source.begin(), source.end(), literal), end; found != end; ++found)
    if (!(*found)[1].matched && (*found)[2].str().find('{') == std::string::npos) add_words((*found)[2].str(), words);
  return words;
}

TEST(KeptTexts, ANewLineOfADumpMovesFewFiles) {
  std::map<std::string, std::size_t> files;
  for (const std::string& name : case_names())
    for (const auto& [text, content] : kept_texts(name)) ++files[text];
  for (const Dump& dump : dumps()) {
    EXPECT_LE(files[dump.text], kMostFiles) << "keep " << dump.text << " in those cases alone that are about it";
    EXPECT_GT(files[dump.text], 0U) << dump.text;
  }
}

TEST(KeptTexts, ShowEveryWordThatACaseMakesADumpWrite) {
  for (const Dump& dump : dumps()) {
    std::set<std::string> written;
    for (const std::string& source : dump.sources) {
      const std::string code = read_text(std::filesystem::path(EDGE_SOURCE_DIR) / source);
      ASSERT_FALSE(code.empty()) << source;
      written.merge(written_words(code));
    }
    std::set<std::string> kept;
    std::map<std::string, std::string> case_of;  // of a word that is written
    for (const std::string& name : case_names()) {
      const auto texts = kept_texts(name);
      if (const auto text = texts.find(dump.text); text != texts.end()) add_words(text->second, kept);
      const auto& outputs = result_of(name).outputs;
      const auto output = outputs.find(dump.text);
      if (output == outputs.end()) continue;
      std::set<std::string> words;
      add_words(output->second, words);
      for (const std::string& word : words)
        if (written.contains(word)) case_of.emplace(word, name);
    }
    for (const auto& [word, name] : case_of) {
      EXPECT_TRUE(kept.contains(word)) << "no case keeps a " << dump.text << " with `" << word << "`; " << name
                                       << " would show it";
    }
  }
}

}  // namespace
}  // namespace edge::golden
