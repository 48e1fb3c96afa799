// What is read as JSON is what the reader of YAML makes of the same text: behind a comment it is YAML's.
#include "compiler/yaml/read_json.h"

#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/diagnostics.h"
#include "base/source.h"

namespace edge::compiler::yaml {
namespace {

constexpr std::string_view kComment = "# YAML\n";

std::optional<Document> as_json(SourceMap& sources, const std::string& text, const ReadLimits& limits = {}) {
  const std::uint32_t id = sources.add("json", text);
  return read_json(sources, id, {0, static_cast<std::uint32_t>(text.size())}, limits, limits.nodes);
}

std::string position(std::uint32_t begin, std::uint32_t end, std::uint32_t shift) {
  return std::to_string(begin - shift) + "-" + std::to_string(end - shift);
}

/// Every node with all that is known of it; places less `shift`.
std::string shown(const Document& document, std::uint32_t shift) {
  std::string all;
  for (const NodeData& node : document.nodes) {
    all += std::to_string(static_cast<int>(node.kind)) + " style " + std::to_string(static_cast<int>(node.style)) +
           " " + std::to_string(node.children) + "/" + std::to_string(node.subtree) + " " +
           position(node.begin, node.end, shift);
    if (node.key_end > node.key_begin) {
      all += " key `" + std::string(node.key) + "` " + position(node.key_begin, node.key_end, shift);
    }
    all += " `" + std::string(node.text) + "`\n";
  }
  return all;
}

void expect_alike(const std::string& text) {
  SourceMap sources;
  const auto json = as_json(sources, text);
  ASSERT_TRUE(json) << text;
  Diagnostics said;
  const std::uint32_t id = sources.add("yaml", std::string(kComment) + text);
  const std::vector<Document> yaml = read_documents(sources, id, said);
  ASSERT_EQ(yaml.size(), 1U) << text;
  EXPECT_EQ(shown(*json, 0), shown(yaml[0], kComment.size())) << text;
}

TEST(ReadJson, TakesWhatEveryObjectHas) {
  expect_alike(R"({"kind":"Service","metadata":{"name":"web","labels":{}},"spec":{"ports":[{"port":80},[]]}})");
  expect_alike("{ \"a\" : -1.5e3 ,\n  \"b\": [true, false , null],\r\n \"c\": \"\" }\n\n");
  expect_alike(R"({"a\"b": "\u00e9\\ \n\t", "plain é 😀": "# no comment: {", "n": "null"})");
}

TEST(ReadJson, TakesJsonThatTheReaderOfYamlDoesNot) {
  SourceMap sources;
  const auto json = as_json(sources, R"({"a"
      : "\/\ud83d\ude00"})");
  ASSERT_TRUE(json);
  EXPECT_EQ(json->root().find("a").text(), "/😀");
}

TEST(ReadJson, LeavesAllElseToTheReaderOfYaml) {
  SourceMap sources;
  for (const char* text :
       {"", "a: 1", "[1]", "{\"a\": 1} {\"b\": 2}", "{\"a\": 1, \"a\": 2}", "{\"a\": 1,}", "{'a': 1}", "{\"a\": 01}",
        "{\"a\": \"\\ud800\"}", "{\"a\": [}", "{\"a\": 1", "{a: 1}", "{\"a\": 1e999}"}) {
    EXPECT_FALSE(as_json(sources, text)) << text;
  }
  std::string many = "{";
  for (int i = 0; i < 40; ++i) many += "\"k" + std::to_string(i) + "\": 0, ";
  EXPECT_TRUE(as_json(sources, many + "\"x\": 0}"));
  EXPECT_FALSE(as_json(sources, many + "\"k3\": 0}"));
  EXPECT_FALSE(as_json(sources, many + "\"k39\": 0}"));
}

TEST(ReadJson, KeepsToItsLimits) {
  SourceMap sources;
  const ReadLimits limits{.depth = 4, .nodes = 5};
  EXPECT_TRUE(as_json(sources, R"({"a":[[[]]]})", limits));
  EXPECT_FALSE(as_json(sources, R"({"a":[[[[]]]]})", limits)) << "five levels";
  EXPECT_TRUE(as_json(sources, R"({"a":[1,2,3]})", limits));
  EXPECT_FALSE(as_json(sources, R"({"a":[1,2,3,4]})", limits)) << "six values";
  EXPECT_FALSE(as_json(sources, "{\"a\":" + std::string(1 << 20, '[')));
}

class Writer {
 public:
  explicit Writer(std::uint32_t seed) : random_(seed) {}
  std::string document() { return map(0) + space(); }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }
  std::string space() {
    constexpr std::string_view kSpaces[] = {"", "", "", " ", "  ", "\n", "\n  "};
    return std::string(kSpaces[below(std::size(kSpaces))]);
  }
  std::string quoted() {
    constexpr std::string_view kParts[] = {"a", "Z9", "-", ".", "/",    "é",    "😀",   " ",   ": ",      "#",
                                           "{", "]",  ",", "'", "null", "\\\"", "\\\\", "\\n", "\\u0041", "\\u00e9"};
    std::string text = "\"";
    for (std::size_t i = below(6); i > 0; --i) text += kParts[below(std::size(kParts))];
    return text + "\"";
  }
  std::string value(int depth) {
    constexpr std::string_view kWords[] = {"0",    "-7",    "80",  "1.5", "-2e+3", "12345678901234567890",
                                           "true", "false", "null"};
    const std::size_t kind = below(depth < 5 ? 6 : 3);
    if (kind < 2) return quoted();
    if (kind == 2) return std::string(kWords[below(std::size(kWords))]);
    return kind == 3 ? list(depth) : map(depth);
  }
  std::string list(int depth) {
    std::string text = "[" + space();
    for (std::size_t i = 0, count = below(4); i < count; ++i) {
      text += (i == 0 ? "" : "," + space()) + value(depth + 1) + space();
    }
    return text + "]";
  }
  std::string map(int depth) {
    std::string text = "{" + space();
    for (std::size_t i = 0, count = below(20) == 0 ? 30 : below(5); i < count; ++i) {
      // Keys of one map differ by what they begin with.
      text += (i == 0 ? "" : "," + space()) + "\"" + std::to_string(i) + quoted().substr(1) + " : " + space() +
              value(depth + 1) + space();
    }
    return text + "}";
  }
  std::mt19937 random_;
};

TEST(ReadJson, IsAlikeOnRandomDocuments) {
  for (std::uint32_t seed = 0; seed < 3000; ++seed) {
    expect_alike(Writer(seed).document());
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace edge::compiler::yaml
