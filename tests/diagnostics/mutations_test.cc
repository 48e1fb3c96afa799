// Every golden configuration with faults put into it: each fault is told by its code, nothing crashes, and what is told
// can be printed. Deterministic: the seed is the case's number.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "base/diagnostics.h"
#include "compiler/compile.h"
#include "tests/diagnostics/mutate.h"

namespace edge::diagnostics {
namespace {

namespace fs = std::filesystem;

/// What the whole compiler says of a text.
struct Checked {
  explicit Checked(std::string text) {
    sources.add("mutated.yaml", std::move(text));
    const compiler::LinkedConfig config = compiler::read_config(sources, diagnostics);
    compiler::Compiler({.target = program::Target::kTablesOnly}).compile(config, diagnostics);
    diagnostics.finish(sources);
  }

  std::ptrdiff_t count(DiagnosticCode code) const {
    return std::ranges::count(diagnostics.all(), code, &Diagnostic::code);
  }

  /// All of it as text; every span lies in the source, and no diagnostic is there twice.
  std::string printed() const {
    std::string all;
    std::set<std::string> seen;
    const std::size_t size = sources[0].text().size();
    for (const Diagnostic& diagnostic : diagnostics.all()) {
      if (diagnostic.span.somewhere()) {
        EXPECT_LE(diagnostic.span.begin, diagnostic.span.end);
        EXPECT_LE(diagnostic.span.begin, size);
      }
      const std::string text = render(diagnostic, sources, Colour::kNo);
      EXPECT_TRUE(seen.insert(text).second) << "told twice:\n" << text;
      all += text;
    }
    return all;
  }

  SourceMap sources;
  Diagnostics diagnostics;
};

std::vector<std::string> golden_inputs() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(EDGE_SOURCE_DIR) / "tests/golden")) {
    if (entry.path().filename() == "input.yaml") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return texts;
}

/// Those without an error: what is wrong with the others may hide what is done to them.
const std::vector<std::string>& faultless_inputs() {
  static const std::vector<std::string> kInputs = [] {
    std::vector<std::string> inputs = golden_inputs();
    std::erase_if(inputs, [](const std::string& input) { return !Checked(input).diagnostics.ok(); });
    return inputs;
  }();
  return kInputs;
}

class Mutations : public testing::TestWithParam<Fault> {};

TEST_P(Mutations, AreToldByTheirCode) {
  const DiagnosticCode code = code_of(GetParam());
  int made = 0;
  for (const std::string& input : faultless_inputs()) {
    const std::vector<FieldSpan> places = places_of(input);
    for (std::uint32_t seed = 0; seed < 2; ++seed) {
      std::mt19937 random(seed);
      const auto mutated = mutate(input, places, GetParam(), random);
      if (!mutated) continue;
      ++made;
      const Checked reported(*mutated);
      EXPECT_GE(reported.count(code), 1) << *mutated << "\n" << reported.printed();
      EXPECT_FALSE(reported.diagnostics.ok());
      EXPECT_NE(reported.printed(), "");
    }
  }
  EXPECT_GE(made, 40);
}

INSTANTIATE_TEST_SUITE_P(Faults, Mutations, testing::ValuesIn(kFaults),
                         [](const auto& info) { return std::string(name_of(info.param)); });

// Cut anywhere, and with bytes overwritten: valid or not, it is read to its end and what is told can be printed.
TEST(Mutations, AtAnyByteAreRead) {
  const std::vector<std::string> inputs = golden_inputs();
  for (std::uint32_t i = 0; i < inputs.size(); ++i) {
    std::mt19937 random(i);
    Checked(inputs[i].substr(0, random() % (inputs[i].size() + 1))).printed();
    std::string noisy = inputs[i];
    for (unsigned n = 1 + random() % 8; n > 0; --n) {
      noisy[random() % noisy.size()] = std::string_view("{}[]:,-#&*!|>'\"%@` \n\t\\?x0\x80\xff")[random() % 27];
    }
    Checked(noisy).printed();
  }
}

/// 50 MB: a block of `each`, made with a fixed seed, again and again.
template <typename Each>
std::string noise(Each each) {
  constexpr std::size_t kBytes = std::size_t{50} << 20;
  constexpr std::size_t kBlock = std::size_t{1} << 16;
  std::mt19937 random(50);
  std::string block;
  while (block.size() < kBlock) block += each(random);
  std::string text;
  text.reserve(kBytes + block.size());
  while (text.size() < kBytes) text += block;
  return text;
}

std::string reported(std::string text) {
  const Checked result(std::move(text));
  EXPECT_FALSE(result.diagnostics.ok());
  result.printed();
  return result.diagnostics.all().empty() ? "" : code_text(result.diagnostics.all()[0].code);
}

TEST(Noise, OfAnyBytesIsNoYaml) {
  EXPECT_EQ(reported(noise([](std::mt19937& random) { return std::string(1, static_cast<char>(random())); })),
            "EDGE0001");
}

TEST(Noise, OfPrintableBytesIsRefused) {
  const std::string code = reported(noise([](std::mt19937& random) {
    return random() % 60 == 0 ? std::string("\n") : std::string(1, static_cast<char>(' ' + random() % 95));
  }));
  EXPECT_TRUE(code == "EDGE0001" || code == "EDGE0702") << code;
}

TEST(Noise, OfBracketsIsTooDeep) {
  EXPECT_EQ(reported(noise([](std::mt19937&) { return std::string("[{a: "); })), "EDGE0702");
}

TEST(Noise, OfValuesIsTooMuch) {
  EXPECT_EQ(reported("a: [" + noise([](std::mt19937&) { return std::string("1,2,3,4,5,6,7,8,"); }) + "]"), "EDGE0701");
}

TEST(Noise, OfDocumentsHasAsManyFaults) {
  const Checked result(noise([](std::mt19937&) { return std::string("---\nkind: ProxyRoute\nx: 1\n"); }));
  EXPECT_EQ(result.diagnostics.all()[0].code, DiagnosticCode::kTooMany);
}

TEST(Noise, OfOneWordIsNoResource) { EXPECT_EQ(reported(std::string(std::size_t{50} << 20, 'x')), "EDGE0102"); }

TEST(Noise, BeyondTheBoundIsNotRead) { EXPECT_EQ(reported(std::string(std::size_t{65} << 20, 'x')), "EDGE0701"); }

}  // namespace
}  // namespace edge::diagnostics
