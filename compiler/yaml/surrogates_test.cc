#include "compiler/yaml/surrogates.h"

#include <gtest/gtest.h>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/yaml/read.h"

namespace edge::compiler::yaml {
namespace {

struct ReadText {
  explicit ReadText(std::string text) {
    const auto id = sources.add("t.json", std::move(text));
    documents = read_documents(sources, id, diagnostics, {});
    diagnostics.finish(sources);
  }
  std::string_view at(Span span) const { return sources[span.source].text().substr(span.begin, span.end - span.begin); }
  SourceMap sources;
  Diagnostics diagnostics;
  std::vector<Document> documents;
};

TEST(Surrogates, AreOneCharacterAtTheirPlace) {
  const ReadText r(R"({"a": "x \ud83d\ude00 y", "b": "\uD834\uDD1E", "c": "\u00e9\\ud83d\\ude00"})");
  ASSERT_TRUE(r.diagnostics.ok());
  const Node root = r.documents.at(0).root();
  EXPECT_EQ(root.find("a").text(), "x \U0001F600 y");
  EXPECT_EQ(r.at(root.find("a").span()), R"("x \ud83d\ude00 y")");
  EXPECT_EQ(root.find("b").text(), "\U0001D11E");
  EXPECT_EQ(r.at(root.find("b").span()), R"("\uD834\uDD1E")");
  EXPECT_EQ(root.find("c").text(), "\u00e9\\ud83d\\ude00");
  EXPECT_EQ(r.at(root.find("c").key_span()), R"("c")");
}

TEST(Surrogates, FaultsBehindThemStandWhereTheyAre) {
  const ReadText r(R"(["\ud83d\ude00\ud83d\ude01z"])");
  ASSERT_TRUE(r.diagnostics.ok());
  const Node value = *r.documents.at(0).root().begin();
  Diagnostics diagnostics;
  diagnostics.add({.code = DiagnosticCode::kSyntax, .span = value.span(), .within = Within{8, 9}});
  diagnostics.finish(r.sources);
  EXPECT_EQ(r.at(diagnostics.all()[0].span), "z");
}

TEST(Surrogates, AloneAreRefused) {
  for (const char* text :
       {R"({"a": "\ud83d"})", R"({"a": "\ude00\ud83d"})", R"({"a": "\ud83dx"})", R"({"a": "\ud83d\u0041"})"}) {
    EXPECT_EQ(ReadText(text).diagnostics.errors(), 1U) << text;
  }
}

TEST(Surrogates, MeanThemselvesWhereTheTextIsNotJson) {
  EXPECT_FALSE(join_surrogates("a: '\\ud83d\\ude00'"));
  EXPECT_FALSE(join_surrogates("{a: '\\ud83d\\ude00'}"));
  EXPECT_FALSE(join_surrogates("{\"a\": 1}"));
  const ReadText r("{a: '\\ud83d\\ude00'}");
  EXPECT_EQ(r.documents.at(0).root().find("a").text(), "\\ud83d\\ude00");
}

}  // namespace
}  // namespace edge::compiler::yaml
