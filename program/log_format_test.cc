#include "program/log_format.h"

#include <string>

#include <gtest/gtest.h>

namespace edge::program {
namespace {

using Kind = LogFormatFault::Kind;

/// Fields in angle brackets, text as it is.
std::string shown(std::string_view format) {
  std::string out;
  for (const LogPiece& piece : read_log_format(format).pieces) {
    out +=
        piece.field == LogField::kText ? std::string(piece.text) : "<" + std::string(log_field_name(piece.field)) + ">";
  }
  return out;
}

std::optional<LogFormatFault> fault_of(std::string_view format) { return read_log_format(format).fault; }

TEST(LogFormat, TheWordsAreRead) {
  EXPECT_TRUE(read_log_format("json").json);
  EXPECT_EQ(shown("common"), "<client> - - [<time_common>] \"<method> <target> <protocol>\" <status> <bytes_out>");
  EXPECT_EQ(shown("combined"), shown("common") + " \"<referer>\" \"<user_agent>\"");
}

TEST(LogFormat, ATemplateIsTextWithFields) {
  EXPECT_EQ(shown("%{time} got %{status}"), "<time> got <status>");
  EXPECT_EQ(shown("%{status}"), "<status>");
  EXPECT_EQ(shown("%{status}%{reason}"), "<status><reason>");
}

TEST(LogFormat, TwoPercentSignsAreOne) {
  EXPECT_EQ(shown("100%%"), "100%");
  EXPECT_EQ(shown("%%%{status}%%%%{x}"), "%<status>%%{x}");
  EXPECT_EQ(shown("%%{status}"), "%{status}");
}

TEST(LogFormat, EveryNameIsRead) {
  for (const std::string_view name : log_field_names()) {
    EXPECT_EQ(shown("%{" + std::string(name) + "}"), "<" + std::string(name) + ">");
  }
}

TEST(LogFormat, FaultsAreFound) {
  const auto at = [](std::string_view format, Kind kind, std::size_t begin, std::size_t end) {
    const auto fault = fault_of(format);
    ASSERT_TRUE(fault) << format;
    EXPECT_EQ(fault->kind, kind) << format;
    EXPECT_EQ(fault->begin, begin) << format;
    EXPECT_EQ(fault->end, end) << format;
  };
  at("jsn", Kind::kUnknownWord, 0, 3);
  at("", Kind::kUnknownWord, 0, 0);
  at("a %{stauts} b", Kind::kUnknownField, 4, 10);
  at("%{}", Kind::kUnknownField, 2, 2);
  at("%{text}", Kind::kUnknownField, 2, 6);
  at("x %{status", Kind::kOpen, 2, 10);
  at("%h %l", Kind::kLonePercent, 0, 1);
  at("%{status} %", Kind::kLonePercent, 10, 11);
  at("%{status}\nforged", Kind::kControlByte, 9, 10);
  at("\x1b[2J%{status}", Kind::kControlByte, 0, 1);
  EXPECT_FALSE(fault_of("%%" + std::string(kMaxLogFormat - 2, 'x')));
  EXPECT_EQ(fault_of("%%" + std::string(kMaxLogFormat - 1, 'x'))->kind, Kind::kTooLong);
}

}  // namespace
}  // namespace edge::program
