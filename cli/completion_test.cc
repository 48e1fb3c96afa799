#include "cli/completion.h"

#include <gtest/gtest.h>

namespace edge::cli {
namespace {

/// Tells what it was told.
std::vector<std::string> shades(const Arguments& given, std::string_view) {
  std::string text = given.one("COLOUR") + "@" + given.one("room");
  for (const std::string& shade : given.all("SHADE")) text += "+" + shade;
  return {text};
}

std::vector<std::string> colours(const Arguments&, std::string_view typed) {
  return {"red." + std::string(typed), std::string(typed) + ".blue"};
}

Program program() {
  return {
      .name = "prog",
      .summary = "A program.",
      .commands =
          {{.name = "paint",
            .summary = "Paint",
            .flags =
                {{.name = "file", .letter = 'f', .value = "PATH", .help = "File", .repeatable = true},
                 {.name = "output", .letter = 'o', .value = "FORMAT", .help = "Format", .choices = {"text", "json"}},
                 {.name = "count", .value = "N", .help = "Count"},
                 {.name = "all", .help = "All"}},
            .positional = Positional{.name = "COLOUR", .help = "Colour", .complete = colours, .open_ended = true}},
           {.name = "mix",
            .summary = "Mix",
            .flags = {{.name = "with", .value = "COLOUR", .help = "Colour", .complete = shades}},
            .positional = Positional{.name = "COLOUR", .help = "Colour"},
            .second = Positional{.name = "SHADE", .help = "Shades", .complete = shades, .repeatable = true},
            .global = true},
           {.name = "key make", .summary = "Make a key"},
           {.name = "key show",
            .summary = "Show a key",
            .positional = Positional{.name = "FILE", .help = "Key", .required = false}},
           {.name = "shell",
            .summary = "Print",
            .positional = Positional{.name = "SHELL", .help = "Shell", .choices = {"bash", "zsh"}}}},
      .flags = {{.name = "room", .letter = 'r', .value = "ROOM", .help = "Room", .choices = {"hall", "hut"}}}};
}

/// The words offered, joined by spaces, and what comes then.
std::string offered(const std::vector<std::string>& words) {
  const Program p = program();
  const Completions completions = complete(p, words);
  std::string text;
  for (const Completions::Word& word : completions.words) text += word.text + " ";
  return text + (completions.then == Completions::Then::kFiles     ? "files"
                 : completions.then == Completions::Then::kNoSpace ? "nospace"
                                                                   : "");
}

TEST(Completion, OffersCommandsAWordAtATime) {
  EXPECT_EQ(offered({""}), "paint mix key shell ");
  EXPECT_EQ(offered({"k"}), "key ");
  EXPECT_EQ(offered({"key", ""}), "make show ");
  EXPECT_EQ(offered({"key", "s"}), "show ");
  EXPECT_EQ(offered({"nothing", ""}), "");
  EXPECT_EQ(offered({}), "");
}

TEST(Completion, OffersFlagsOnceAndTheirValues) {
  EXPECT_EQ(offered({"paint", "--"}), "--file --output --count --all --help ");
  EXPECT_EQ(offered({"paint", "--all", "-o", "text", "--"}), "--file --count --help ");
  EXPECT_EQ(offered({"paint", "--output", ""}), "text json ");
  EXPECT_EQ(offered({"paint", "-o", "j"}), "json ");
  EXPECT_EQ(offered({"paint", "--output=t"}), "--output=text ");
  EXPECT_EQ(offered({"paint", "--output", "=", "t"}), "text ");
  EXPECT_EQ(offered({"paint", "--output", "="}), "text json ");
  EXPECT_EQ(offered({"paint", "-f", ""}), "files");
  EXPECT_EQ(offered({"paint", "--count", ""}), "");
}

TEST(Completion, OffersTheArgumentOnce) {
  EXPECT_EQ(offered({"paint", "red"}), "red.red red.blue nospace");
  EXPECT_EQ(offered({"paint", "-o", "text", "--all", "red"}), "red.red red.blue nospace");
  EXPECT_EQ(offered({"paint", "red", ""}), "");
  EXPECT_EQ(offered({"key", "show", ""}), "files");
  EXPECT_EQ(offered({"shell", ""}), "bash zsh ");
}

TEST(Completion, AnswersByWhatWasGivenBefore) {
  EXPECT_EQ(offered({"mix", "red", "-r", "hall", ""}), "red@hall ");
  EXPECT_EQ(offered({"mix", "--room=hall", "red", "dark", "warm", ""}), "red@hall+dark+warm ");
  EXPECT_EQ(offered({"-r", "hall", "mix", "red", "--with", ""}), "red@hall ");
  EXPECT_EQ(offered({"-r", "h"}), "hall hut ");
  EXPECT_EQ(offered({"-r", "hall", "m"}), "mix ");
  EXPECT_EQ(offered({"--r"}), "--room ");
  EXPECT_EQ(offered({"mix", "-r", "hall", "--"}), "--with --help ");
  EXPECT_EQ(offered({"paint", "--r"}), "");
}

TEST(Completion, KnowsThreeShells) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = completion_script("prog", shell);
    ASSERT_TRUE(script) << shell;
    EXPECT_NE(script->find("_prog"), std::string::npos);
    EXPECT_EQ(script->find('%' + std::string("PROGRAM")), std::string::npos);
  }
  EXPECT_FALSE(completion_script("prog", "csh"));
}

}  // namespace
}  // namespace edge::cli
