#include "compiler/yaml/read.h"

#include <chrono>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/yaml/brackets.h"

namespace edge::compiler::yaml {
namespace {

/// A text with what was read from it.
struct Reading {
  explicit Reading(std::string text, const ReadLimits& limits = {}) {
    const auto id = sources.add("t.yaml", std::move(text));
    documents = read_documents(sources, id, diagnostics, limits);
    diagnostics.finish(sources);
  }
  Node root(std::size_t i = 0) const { return documents.at(i).root(); }
  std::string_view at(Span span) const { return sources[span.source].text().substr(span.begin, span.end - span.begin); }
  std::string faults() const {
    std::string all;
    for (const Diagnostic& d : diagnostics.all()) all += code_text(d.code) + " " + d.message + "\n";
    return all;
  }
  SourceMap sources;
  Diagnostics diagnostics;
  std::vector<Document> documents;
};

TEST(Yaml, KnowsTheSpanOfEveryValueAndKey) {
  const Reading r(
      "a: one\nb:\n  - \"t\\u0041wo\"\n  - 'it''s'\n  - {x: 1, \"y\": [2, 3 ] }\nc: &p !!str 12\nd:\ne: 'x'\n");
  EXPECT_EQ(r.faults(), "");
  const Node root = r.root();
  EXPECT_EQ(root.size(), 5U);
  EXPECT_EQ(r.at(root.find("a").span()), "one");
  EXPECT_EQ(r.at(root.find("a").key_span()), "a");
  auto item = root.find("b").begin();
  EXPECT_EQ((*item).text(), "tAwo");
  EXPECT_EQ(r.at((*item).span()), "\"t\\u0041wo\"");
  ++item;
  EXPECT_EQ((*item).text(), "it's");
  EXPECT_EQ(r.at((*item).span()), "'it''s'");
  ++item;
  EXPECT_EQ(r.at((*item).span()), "{x: 1, \"y\": [2, 3 ] }");
  EXPECT_EQ(r.at((*item).find("y").span()), "[2, 3 ]");
  EXPECT_EQ(r.at((*item).find("y").key_span()), "\"y\"");
  EXPECT_EQ(root.find("c").data().style, Style::kQuoted);
  EXPECT_EQ(r.at(root.find("c").span()), "12");
  EXPECT_TRUE(root.find("d").is_null());
  EXPECT_EQ(r.at(root.find("d").span()), "d");
  EXPECT_FALSE(root.find("f"));
}

TEST(Yaml, EndsOfBlockScalars) {
  const Reading r("v: |\n  ab\n  cd\nw: 1\n");
  EXPECT_EQ(r.at(r.root().find("v").span()), "|\n  ab\n  cd\n");
  const Reading multi("v: ab\n  cd\nw: 1\n");
  EXPECT_EQ(multi.at(multi.root().find("v").span()), "ab\n  cd");
}

TEST(Yaml, WhatIsNotThereIsANullThatIsNowhere) {
  const Node nothing;
  EXPECT_FALSE(nothing);
  EXPECT_TRUE(nothing.is_null());
  EXPECT_EQ(nothing.size(), 0U);
  EXPECT_EQ(nothing.begin(), nothing.end());
  EXPECT_FALSE(nothing.find("a"));
  EXPECT_FALSE(nothing.span().somewhere());
  EXPECT_FALSE(nothing.key_span().somewhere());
}

TEST(Yaml, ReadsJson) {
  const Reading r("{\n\t\"a\": {\"b\": [true, null, \"x\\/y\\n\"]},\n\t\"n\": -1.5\n}\n");
  EXPECT_EQ(r.faults(), "");
  auto item = r.root().find("a").find("b").begin();
  EXPECT_EQ((*item).text(), "true");
  EXPECT_EQ((*item).data().style, Style::kPlain);
  ++item;
  EXPECT_TRUE((*item).is_null());
  ++item;
  EXPECT_EQ((*item).text(), "x/y\n");
  EXPECT_EQ(r.root().find("n").text(), "-1.5");
}

TEST(Yaml, ReadsSeveralDocumentsAndSkipsEmptyOnes) {
  const Reading r(
      "\xef\xbb\xbf# only a comment\n---\na: 1\n---\n\n# nothing\n---\n---\nb: |\n  --- no\n...\n%YAML 1.2\n---\nc: 3");
  EXPECT_EQ(r.faults(), "");
  ASSERT_EQ(r.documents.size(), 3U);
  EXPECT_EQ(r.at(r.root(0).find("a").span()), "1");
  EXPECT_EQ(r.root(1).find("b").text(), "--- no\n");
  EXPECT_EQ(r.at(r.root(2).find("c").span()), "3");
}

TEST(Yaml, AFaultInOneDocumentLeavesTheOthers) {
  const Reading r("a: 1\n---\nb: [1\n---\nc: : :\n---\n\td: 1\n---\ne: 5\n");
  EXPECT_EQ(r.documents.size(), 2U);
  EXPECT_EQ(r.root(1).find("e").text(), "5");
  EXPECT_EQ(r.diagnostics.errors(), 3U);
  for (const Diagnostic& d : r.diagnostics.all()) EXPECT_EQ(d.code, DiagnosticCode::kSyntax);
}

TEST(Yaml, DuplicateKeysAreFaultsWithBothPlaces) {
  const Reading r("a: 1\nb: 2\na: 3\n");
  ASSERT_EQ(r.diagnostics.all().size(), 1U);
  const Diagnostic& d = r.diagnostics.all()[0];
  EXPECT_EQ(d.code, DiagnosticCode::kDuplicateKey);
  EXPECT_EQ(d.span.begin, 10U);
  ASSERT_EQ(d.labels.size(), 1U);
  EXPECT_EQ(d.labels[0].span.begin, 0U);
  std::string many;
  for (int i = 0; i < 40; ++i) many += "k" + std::to_string(i % 39) + ": 1\n";
  EXPECT_EQ(Reading(many).faults(), "EDGE0003 the key `k0` is given twice\n");
}

TEST(Yaml, AliasesAreCopiedAndBounded) {
  const Reading r("a: &x {p: 1, q: [2]}\nb: *x\nc: [*x, *x]\n");
  EXPECT_EQ(r.faults(), "");
  EXPECT_EQ(r.root().find("b").key(), "b");
  EXPECT_EQ(r.root().find("b").find("q").size(), 1U);
  EXPECT_EQ(r.root().find("c").size(), 2U);
  EXPECT_EQ(r.root().find("a").size(), 2U);

  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += before + " ,";
    bomb += "]\n";
  }
  const Reading exploded(bomb);
  ASSERT_EQ(exploded.diagnostics.all().size(), 1U);
  EXPECT_EQ(exploded.diagnostics.all()[0].code, DiagnosticCode::kTooManyAliases);
  EXPECT_EQ(Reading("a: &a [*a]\n").diagnostics.errors(), 1U);
  EXPECT_EQ(Reading("a: *nobody\n").diagnostics.errors(), 1U);
}

TEST(Yaml, RefusesWhatItDoesNotRead) {
  for (const char* text : {"a: &x {p: 1}\nb:\n  <<: *x\n", "a: !custom 1\n", "? [a]\n: 1\n", "&a k: 1\n*a : 2\n",
                           "a: !!binary aGk=\n", "a: !!int 3\n", "!!set {a}\n"}) {
    const Reading r(text);
    ASSERT_EQ(r.diagnostics.all().size(), 1U) << text;
    EXPECT_EQ(r.diagnostics.all()[0].code, DiagnosticCode::kNotSupported) << text << r.faults();
  }
  for (const std::string& text : {std::string("a: \x01\n"), std::string("a: \xff\n"), std::string("a\0b: 1\n", 7),
                                  std::string("a: \xed\xa0\x80\n"), std::string("a: \xc0\x80\n"),
                                  std::string("a: \x7f\n"), std::string("{\"a\":1}{\"b\":2}"), std::string("a: 1\n]\n"),
                                  std::string("a: \"b"), std::string("a: 'b''"), std::string("a: \"")}) {
    const Reading r(text);
    ASSERT_EQ(r.diagnostics.all().size(), 1U) << text;
    EXPECT_EQ(r.diagnostics.all()[0].code, DiagnosticCode::kSyntax) << text;
  }
}

TEST(Yaml, BracketsThatAreNotClosedAreASyntaxFault) {
  for (const char* text : {"a: {b: c", "a:\n  - [{ b: \"}]\", c: d # }]\n", "a: [{b: 'it''s }]', c"}) {
    const Reading r(text);
    ASSERT_EQ(r.diagnostics.all().size(), 1U) << text;
    EXPECT_EQ(r.diagnostics.all()[0].code, DiagnosticCode::kSyntax) << r.faults();
  }
}

TEST(Yaml, FindsBracketsThatNestTooDeepBeforeItReads) {
  const std::string deep(9, '[');
  const auto found = [](const std::string& text) { return find_too_deep(text, 8).has_value(); };
  for (const std::string& text : std::vector<std::string>{
           deep, "a: " + deep, "- " + deep, "- a: &x " + deep, "\"k\": " + deep, "a: |\n  text\nb: " + deep,
           "- a: |\n    text\n  b: " + deep, "a: [\n[\n[\n[{b: [[[[", "- - >\n   t\n  - " + deep}) {
    EXPECT_TRUE(found(text)) << text;
  }
  for (const std::string& text : std::vector<std::string>{
           "a: x" + deep, "a: |\n  " + deep + "\nb: 1", "- a: >-\n    " + deep + "\n  b: 1", "# " + deep,
           "a: '" + deep + "'", "a: \"\\\"" + deep + "\"", "a: 1 # " + deep,
           "a: ['" + deep + "', x" + deep.substr(2) + "] ", std::string(8, '[') + std::string(8, ']')}) {
    EXPECT_FALSE(found(text)) << text;
  }
}

TEST(Yaml, HoldsItsLimits) {
  const auto code = [](const std::string& text, const ReadLimits& limits = {}) {
    const Reading r(text, limits);
    return r.diagnostics.all().empty() ? "none" : std::string(code_text(r.diagnostics.all()[0].code));
  };
  EXPECT_EQ(code("abc", {.bytes = 3}), "none");
  EXPECT_EQ(code("abcd", {.bytes = 3}), "EDGE0701");
  EXPECT_EQ(code("[1,2,3]", {.nodes = 4}), "none");
  EXPECT_EQ(code("[1,2,3]", {.nodes = 3}), "EDGE0701");
  EXPECT_EQ(code("a\n---\nb\n", {.documents = 2}), "none");
  EXPECT_EQ(code("a\n---\nb\n---\nc\n", {.documents = 2}), "EDGE0704");
  EXPECT_EQ(code(std::string(64, '[') + std::string(64, ']')), "none");
  EXPECT_EQ(code(std::string(65, '[') + std::string(65, ']')), "EDGE0702");
  EXPECT_NE(code(std::string(1'000'000, '[')), "none");
  EXPECT_NE(code(std::string(1'000'000, '{')), "none");
  std::string blocks;
  for (int i = 0; i < 2000; ++i) blocks += "- ";
  EXPECT_EQ(code(blocks), "EDGE0702");
  std::string maps;
  for (int i = 0; i < 300; ++i) maps += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(code(maps), "EDGE0702");
}

// Noise and mutations give documents or diagnostics, never a crash, and every span lies in the text.
TEST(Yaml, TakesAnyBytes) {
  const std::string seed =
      "a: &x \"t\\u00e9\"\nb: [1, {c: 'd''e'}]\nf: |\n  g\n  h\n---\n{\"i\": [null, *x]}\n---\nj: >-\n  k\n l: ? m\n";
  const std::string_view inserts[] = {"[",  "]",     "{",    "}",    ":",    "-",   "\n", " ", "\"",
                                      "'",  "&a ",   "*a ",  "|\n",  ">\n",  "!t ", "? ", "#", ",",
                                      "\t", "---\n", "%X\n", "\xc3", "<<: ", "@",   "`",  "\\"};
  std::mt19937 random(7);
  for (int round = 0; round < 4000; ++round) {
    std::string text = seed;
    for (unsigned n = 1 + random() % 6; n > 0; --n) {
      const std::size_t at = random() % (text.size() + 1);
      switch (random() % 3) {
        case 0:
          text.insert(at, inserts[random() % std::size(inserts)]);
          break;
        case 1:
          text.erase(at, random() % 4);
          break;
        default:
          if (at < text.size()) text[at] = static_cast<char>(random() % 128);
      }
    }
    const Reading r(text);
    for (const Document& document : r.documents) {
      for (const NodeData& node : document.nodes) {
        EXPECT_LE(node.begin, node.end);
        EXPECT_LE(node.end, text.size());
        EXPECT_LE(node.key_end, text.size());
      }
    }
    for (const Diagnostic& d : r.diagnostics.all()) render(d, r.sources, Colour::kNo);
  }
}

}  // namespace
}  // namespace edge::compiler::yaml
