#include "base/text/ascii.h"

#include <gtest/gtest.h>

namespace edge {
namespace {

using namespace std::string_view_literals;

TEST(Ascii, FoldsLettersAndNothingElse) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    EXPECT_EQ(ascii_lower(c) != c, byte >= 'A' && byte <= 'Z') << byte;
  }
  EXPECT_EQ(ascii_lower("X-\xc3\x84@[`{Z"), "x-\xc3\x84@[`{z");
}

TEST(Ascii, ComparesEveryByte) {
  EXPECT_TRUE(equals_ignoring_case("Content-TYPE", "content-type"));
  EXPECT_FALSE(equals_ignoring_case("content-type", "content-typ"));
  // `@` and a backquote differ by the bit that tells the cases of a letter.
  EXPECT_FALSE(equals_ignoring_case("a@", "a`"));
  EXPECT_FALSE(equals_ignoring_case("a\0b"sv, "a\0c"sv)) << "a NUL ends no comparison";
  EXPECT_FALSE(equals_ignoring_case("\xc4", "\xe4")) << "of Latin-1, which no header is written in";
}

TEST(Ascii, FindsABeginning) {
  EXPECT_TRUE(starts_with_ignoring_case("BEARER x", "bearer "));
  EXPECT_TRUE(starts_with_ignoring_case("a", ""));
  EXPECT_FALSE(starts_with_ignoring_case("bear", "bearer "));
}

TEST(Ascii, ReadsHexadecimalDigits) {
  const std::string_view digits = "0123456789abcdefABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    const std::size_t at = digits.find(static_cast<char>(byte));
    const int expected = at == std::string_view::npos ? -1 : static_cast<int>(at < 16 ? at : at - 6);
    EXPECT_EQ(hex_digit(static_cast<char>(byte)), expected) << byte;
  }
}

TEST(Ascii, TakesPartsOff) {
  std::string_view rest = " a ,\t,b c";
  EXPECT_EQ(next_part(rest, ','), "a");
  EXPECT_EQ(next_part(rest, ','), "");
  EXPECT_EQ(next_part(rest, ','), "b c");
  EXPECT_EQ(rest, "");
  EXPECT_EQ(next_part(rest, ','), "");
  EXPECT_EQ(trim_blanks(" \t "), "");
  EXPECT_EQ(trim_blanks("\n a\r"), "\n a\r") << "ends of lines are no blanks";
}

}  // namespace
}  // namespace edge
