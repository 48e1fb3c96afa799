#include "cli/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace edge::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Arguments g_seen;  // what the command under test was run with

int remember(const Arguments& arguments) {
  g_seen = arguments;
  return 0;
}

Program table() {
  return {
      .name = "prog",
      .summary = "A program",
      .version = "prog 1.2\n",
      .commands =
          {{.name = "validate",
            .group = "Files",
            .summary = "Check files",
            .flags =
                {{.name = "file", .letter = 'f', .value = "PATH", .help = "File", .required = true, .repeatable = true},
                 {.name = "output",
                  .letter = 'o',
                  .value = "FORMAT",
                  .help = "Format",
                  .fallback = "text",
                  .choices = {"text", "json"}},
                 {.name = "timings", .value = "", .help = "Times"}},
            .run = remember},
           {.name = "routes dump", .group = "Routes", .summary = "Dump", .run = remember},
           {.name = "explain",
            .summary = "Explain",
            .flags = {{.name = "header", .letter = 'H', .value = "FIELD", .help = "F", .repeatable = true}},
            .positional = Positional{.name = "REQUEST", .help = "The request"},
            .run = remember},
           {.name = "get",
            .summary = "Get",
            .flags = {{.name = "watch", .letter = 'w', .help = "Watch"}},
            .positional = Positional{.name = "TYPE", .help = "Type"},
            .second = Positional{.name = "NAME", .help = "Names", .required = false, .repeatable = true},
            .run = remember,
            .global = true}},
      .flags = {{.name = "namespace", .letter = 'n', .value = "NAME", .help = "Namespace", .environment = "PROG_NS"},
                {.name = "output",
                 .letter = 'o',
                 .value = "FORMAT",
                 .help = "Format",
                 .fallback = "table",
                 .choices = {"table", "json", "jsonpath="},
                 .environment = "PROG_OUTPUT",
                 .passed_over = {"text", "columns="}},
                {.name = "watch", .letter = 'w', .help = "Watch", .passed_on = true}}};
}

struct Ran {
  int code;
  std::string out;
  std::string err;
};

Ran run_with(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "prog");
  g_seen = {};
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = run(table(), static_cast<int>(arguments.size()), arguments.data());
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(Flags, TakesRepeatedFlagsInOrderAndOneValueAUse) {
  EXPECT_EQ(run_with({"validate", "-f", "a", "--file=b", "--timings", "-f-"}).code, 0);
  EXPECT_THAT(g_seen.all("file"), ElementsAre("a", "b", "-"));
  EXPECT_EQ(g_seen.one("output"), "text");
  EXPECT_TRUE(g_seen.has("timings"));

  const Ran extra = run_with({"validate", "-f", "a", "b"});
  EXPECT_EQ(extra.code, 2);
  EXPECT_THAT(extra.err, HasSubstr("unexpected argument `b`"));
}

TEST(Flags, PassesValuesThatLookLikeListsThrough) {
  const Ran ran = run_with({"explain", "GET http://a/?q=[1,2]", "-H", "x: [a,b]", "-H", "y: -1"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(g_seen.all("header"), ElementsAre("x: [a,b]", "y: -1"));
  EXPECT_EQ(g_seen.one("REQUEST"), "GET http://a/?q=[1,2]");
}

TEST(Flags, UsageErrorsNameTheNearestRightWord) {
  EXPECT_THAT(run_with({"validte", "-f", "x"}).err, HasSubstr("no command `validte`; did you mean `prog validate`?"));
  EXPECT_THAT(run_with({"validate", "--fil", "x"}).err, HasSubstr("unknown flag `--fil`; did you mean `--file`?"));
  EXPECT_THAT(run_with({"validate", "-f", "x", "-o", "jsn"}).err,
              HasSubstr("takes text, json, not `jsn`; did you mean `json`?"));
  EXPECT_THAT(run_with({"routes", "dmp"}).err, HasSubstr("did you mean `prog routes dump`?"));
  for (const auto& words : std::vector<std::vector<const char*>>{{},
                                                                 {"nope"},
                                                                 {"validate"},
                                                                 {"routes"},
                                                                 {"explain"},
                                                                 {"validate", "-f"},
                                                                 {"validate", "-f", "x", "--timings=no"}}) {
    const Ran ran = run_with(words);
    EXPECT_EQ(ran.code, 2) << (words.empty() ? "" : words[0]);
    EXPECT_EQ(ran.out, "");
    EXPECT_NE(ran.err, "");
  }
}

TEST(Flags, TheProgramsFlagsStandBeforeAndBehindTheCommand) {
  EXPECT_EQ(run_with({"-n", "a", "get", "routes", "x", "-o", "json", "y", "z", "-w"}).code, 0);
  EXPECT_EQ(g_seen.one("namespace"), "a");
  EXPECT_EQ(g_seen.one("output"), "json");
  EXPECT_TRUE(g_seen.has("watch"));
  EXPECT_THAT(g_seen.all("NAME"), ElementsAre("x", "y", "z"));
  EXPECT_EQ(run_with({"-n", "a", "get", "routes", "-n", "b"}).code, 0);
  EXPECT_EQ(g_seen.one("namespace"), "b");
  EXPECT_EQ(g_seen.one("output"), "table");
  EXPECT_EQ(run_with({"get", "routes", "-o", "jsonpath={.a}"}).code, 0);
  EXPECT_EQ(run_with({"get", "routes", "validate", "get", "dump"}).code, 0);
  EXPECT_THAT(g_seen.all("NAME"), ElementsAre("validate", "get", "dump"));
  EXPECT_EQ(run_with({"get", "routes", "-o", "jsonpath="}).code, 2);
  // A command with a flag of that name of its own, and one that takes none of them.
  EXPECT_EQ(run_with({"validate", "-f", "x", "-o", "json"}).code, 0);
  EXPECT_EQ(run_with({"-o", "json", "validate", "-f", "x"}).code, 0);
  EXPECT_EQ(g_seen.one("output"), "json");
  EXPECT_THAT(run_with({"-n", "a", "validate", "-f", "x"}).err, HasSubstr("before the command's name is not for"));
  // One that is only handed to the command's own flag of its name.
  EXPECT_EQ(run_with({"-w", "get", "routes"}).code, 0);
  EXPECT_TRUE(g_seen.has("watch"));
  EXPECT_THAT(run_with({"-w", "routes", "dump"}).err, HasSubstr("before the command's name is not for"));
  EXPECT_THAT(run_with({"validate", "-f", "x", "-n", "a"}).err, HasSubstr("unknown flag `-n`"));
}

TEST(Flags, TheEnvironmentStandsInForAnAbsentFlag) {
  ::setenv("PROG_NS", "of-env", 1);
  EXPECT_EQ(run_with({"get", "routes"}).code, 0);
  EXPECT_EQ(g_seen.one("namespace"), "of-env");
  EXPECT_EQ(run_with({"get", "routes", "-n", "b"}).code, 0);
  EXPECT_EQ(g_seen.one("namespace"), "b");
  ::setenv("PROG_OUTPUT", "jsn", 1);
  EXPECT_THAT(run_with({"get", "routes"}).err, HasSubstr("`PROG_OUTPUT` takes table, json, jsonpath=, not `jsn`"));
  // What other commands take is no mistake.
  for (const char* other : {"text", "columns=A"}) {
    ::setenv("PROG_OUTPUT", other, 1);
    EXPECT_EQ(run_with({"get", "routes"}).code, 0);
    EXPECT_EQ(g_seen.one("output"), "table");
  }
  EXPECT_EQ(run_with({"get", "routes", "-o", "text"}).code, 2);
  ::unsetenv("PROG_NS");
  ::unsetenv("PROG_OUTPUT");
}

TEST(Flags, HelpGoesToStdout) {
  const Ran top = run_with({"--help"});
  EXPECT_EQ(top.code, 0);
  EXPECT_THAT(top.out, HasSubstr("routes dump"));
  const Ran group = run_with({"routes", "-h"});
  EXPECT_THAT(group.out, HasSubstr("routes dump"));
  EXPECT_THAT(group.out, testing::Not(HasSubstr("validate")));
  const Ran command = run_with({"validate", "--help"});
  EXPECT_EQ(command.code, 0);
  EXPECT_THAT(command.out, HasSubstr("-f, --file PATH"));
  EXPECT_THAT(command.out, HasSubstr("Format: text, json (default text)"));
  EXPECT_EQ(command.err, "");
}

TEST(Flags, TheVersionIsPrintedWithoutACommand) {
  const Ran ran = run_with({"--version"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "prog 1.2\n");
}

TEST(Flags, HelpListsCommandsInGroups) {
  const std::string all = program_help(table());
  EXPECT_THAT(all, HasSubstr("\nFiles:\n  validate"));
  EXPECT_THAT(all, HasSubstr("\nRoutes:\n  routes dump"));
  EXPECT_THAT(all, HasSubstr("--version"));
}

TEST(Flags, HelpIsFoundByTheWordsOfACommand) {
  EXPECT_EQ(help_of(table(), {}).value(), program_help(table()));
  EXPECT_EQ(help_of(table(), {"routes"}).value(), program_help(table(), "routes"));
  EXPECT_THAT(help_of(table(), {"routes", "dump"}).value(), HasSubstr("Usage: prog routes dump"));
  EXPECT_EQ(help_of(table(), {"routes", "dmp"}).error().text,
            "there is no command `dmp`; did you mean `prog routes dump`?");
  EXPECT_EQ(help_of(table(), {"validate", "files"}).error().text, "there is no command `files`");
  EXPECT_THAT(next_words(table(), {"routes"}), ElementsAre("dump"));
  EXPECT_THAT(next_words(table(), {}), ElementsAre("validate", "routes", "explain", "get"));
}

TEST(Flags, AValueFlagTakesOneValueUnlessRepeatable) {
  const Ran twice = run_with({"validate", "-f", "a", "-o", "json", "-o", "text"});
  EXPECT_EQ(twice.code, 2);
  EXPECT_THAT(twice.err, HasSubstr("given twice"));
}

}  // namespace
}  // namespace edge::cli
