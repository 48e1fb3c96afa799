// A place in a decoded value is found in the text as it is written: quoted, escaped, folded, indented, in a block.
#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/diagnostics.h"
#include "base/source.h"
#include "base/text/scalar_offset.h"
#include "compiler/yaml/read.h"

namespace edge::compiler::yaml {
namespace {

struct Placed {
  explicit Placed(std::string text) {
    documents = read_documents(sources, sources.add("t.yaml", std::move(text)), diagnostics);
    diagnostics.finish(sources);
  }
  Node root() const { return documents.at(0).root(); }
  std::string faults() const {
    std::string all;
    for (const Diagnostic& d : diagnostics.all()) all += render(d, sources, Colour::kNo);
    return all;
  }
  SourceMap sources;
  Diagnostics diagnostics;
  std::vector<Document> documents;
};

/// The source byte of each decoded byte of the value of `v`.
void expect_places(const std::string& text, std::string_view decoded, std::string_view letters) {
  Placed r(text);
  ASSERT_EQ(r.faults(), "") << text;
  const Node value = r.root().find("v");
  ASSERT_EQ(value.text(), decoded) << text;
  for (const char letter : letters) {
    const auto at = static_cast<std::uint32_t>(value.text().find(letter));
    Diagnostics diagnostics;
    diagnostics.add({.code = DiagnosticCode::kSyntax, .span = value.span(), .within = Within{at, at + 1}});
    diagnostics.finish(r.sources);
    const Span position = diagnostics.all()[0].span;
    EXPECT_EQ(text[position.begin], letter) << text;
    EXPECT_EQ(position.end, position.begin + 1);
  }
}

TEST(Places, InsideScalarsOfEveryStyle) {
  expect_places("v: abc\n", "abc", "abc");
  expect_places("v: a b\n   c\n\n   d\n", "a b c\nd", "abcd");
  expect_places("v: 'a''b c'\n", "a'b c", "abc");
  expect_places("v: 'a\n  b\n\n  c'\n", "a b\nc", "abc");
  expect_places("v: \"\\ta\\\\b\\u00e9c\\x41d\\\n    e\"\n",
                "\ta\\b\xc3\xa9"
                "cAde",
                "abcde");
  expect_places("v: |\n  a\n   b\n\n  c\n", "a\n b\n\nc\n", "abc");
  expect_places("v: >-\n  a\n  b\n\n  c\n    d\n  e\n", "a b\nc\n  d\ne", "abcde");
  expect_places("v: |-\r\n  a\r\n  b\r\n", "a\nb", "ab");
  // Indentation and chomping indicators, comments behind them, blank lines before the text.
  expect_places("v: |2-\n    a\n  b\n", "  a\nb", "ab");
  expect_places("v: >-2 # why\n   a\n  b\n  c\n", " a\nb c", "abc");
  expect_places("v: |+\n\n\n  a\n\n  b\n\n", "\n\na\n\nb\n\n", "ab");
  expect_places("v: >\n\n  a\n  b\n\n", "\na b\n", "ab");
  expect_places("v: &anchor |1-\n  a\n b\n", " a\nb", "ab");
  expect_places("v: >-\n  a\n\n\n    b\n    c\n\n  d\n", "a\n\n\n  b\n  c\n\nd", "abcd");
  expect_places("v: |-\n  \ta\n  b\n", "\ta\nb", "ab");
  expect_places("v: !!str\n  a\n  b\n", "a b", "ab");
}

TEST(Places, BelowListsAndKeys) {
  const auto expect = [](const std::string& text, std::string_view letters) {
    const Placed r(text);
    ASSERT_EQ(r.faults(), "") << text;
    for (const NodeData& node : r.documents.at(0).nodes) {
      for (const char letter : letters) {
        const std::size_t at = node.text.find(letter);
        if (node.kind != NodeKind::kScalar || at == std::string_view::npos) continue;
        const std::uint32_t position =
            scalar_offset(r.sources[0].text(), node.begin, node.end, static_cast<std::uint32_t>(at));
        EXPECT_EQ(text[position], letter) << text;
      }
    }
  };
  expect("l:\n  - v: |2\n        A\n      B\n", "AB");
  expect("l:\n  - |2\n      A\n    B\n", "AB");
  expect("- - |1\n    A\n   B\n", "AB");
}

/// Scalars made of letters that stand once each, in one style, with everything that style folds, escapes and indents.
class RandomScalar {
 public:
  explicit RandomScalar(std::uint32_t seed) : random_(seed) {}

  std::string text() {
    switch (random_() % 5) {
      case 0:
        return "v: " + flow(/*escapes=*/"", /*quote=*/"") + "\n";
      case 1:
        return "v: '" + flow("''", "'") + "'\n";
      case 2:
        return "v: \"" + flow("\\", "\"") + "\"\n";
      default:
        return "v: " + block();
    }
  }

 private:
  std::string letter() { return next_ < kLetters.size() ? std::string(1, kLetters[next_++]) : std::string("-"); }

  std::string flow(std::string_view escapes, std::string_view quote) {
    static constexpr std::string_view kEscapes[] = {"\\n", "\\\"", "\\x41", "\\u00e9", "\\U0001f600",
                                                    "\\N", "\\L",  "\\_",   "\\\n   "};
    std::string out = letter();
    for (unsigned n = random_() % 9; n > 0; --n) {
      switch (random_() % 6) {
        case 0:
          out += ' ' + letter();
          break;
        case 1:
          out += "  \n   " + letter();
          break;
        case 2:
          out += "\n\n \n  " + letter();
          break;
        case 3:
          if (escapes == "''") out += "''";
          if (escapes == "\\") out += std::string(kEscapes[random_() % std::size(kEscapes)]) + letter();
          break;
        case 4:
          out += "\u00e9";
          break;
        default:
          out += letter();
      }
    }
    return out + (quote.empty() ? "" : letter());
  }

  std::string block() {
    const std::size_t indent = 1 + random_() % 4;
    const bool indicator = random_() % 2 == 0;
    std::string out(1, random_() % 2 == 0 ? '|' : '>');
    if (indicator) out += std::to_string(indent);
    out += std::array{"", "-", "+"}[random_() % 3];
    out += random_() % 4 == 0 ? "  # a remark\n" : "\n";
    for (unsigned n = 1 + random_() % 6; n > 0; --n) {
      if (random_() % 4 == 0) out += std::string(random_() % (indent + 1), ' ') + "\n";
      const bool first = next_ == 0 && !indicator;
      const std::size_t deeper = !first && random_() % 3 == 0 ? 1 + random_() % 3 : 0;
      out += std::string(indent + deeper, ' ') + letter() + (random_() % 2 == 0 ? " " + letter() : "") + "\n";
    }
    return out;
  }

  static constexpr std::string_view kLetters = "ABCDEFGHIJKMOQRSTVWXYZ";
  std::mt19937 random_;
  std::size_t next_ = 0;
};

TEST(Places, InsideRandomScalars) {
  for (std::uint32_t seed = 0; seed < 4000; ++seed) {
    const std::string text = RandomScalar(seed).text();
    const Placed r(text);
    ASSERT_EQ(r.faults(), "") << seed << "\n" << text;
    const NodeData& value = r.root().find("v").data();
    for (std::size_t i = 0; i < value.text.size(); ++i) {
      const char letter = value.text[i];
      if (letter < 'A' || letter > 'Z' || text.find(letter) == std::string::npos) continue;
      if (std::ranges::count(value.text, letter) > 1) continue;  // one of them was written as an escape
      const std::uint32_t position = scalar_offset(text, value.begin, value.end, static_cast<std::uint32_t>(i));
      ASSERT_EQ(position, text.find(letter)) << "seed " << seed << ", letter " << letter << "\n" << text;
    }
  }
}

}  // namespace
}  // namespace edge::compiler::yaml
