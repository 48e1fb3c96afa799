#include "base/text/times.h"

#include <array>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace edge {
namespace {

std::string http_date(std::int64_t unix_seconds) {
  std::array<char, 30> text{};
  write_http_date(unix_seconds, text);
  EXPECT_EQ(text.back(), '\0');
  return text.data();
}

TEST(Times, AreOfUtc) {
  EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(rfc3339(951'827'696), "2000-02-29T12:34:56Z");
  EXPECT_EQ(rfc3339(-1), "1969-12-31T23:59:59Z");
}

TEST(Times, AnHttpDateHasTheSpecificationsForm) {
  EXPECT_EQ(http_date(784'111'777), "Sun, 06 Nov 1994 08:49:37 GMT") << "RFC 9110 §5.6.7";
  EXPECT_EQ(http_date(951'827'696), "Tue, 29 Feb 2000 12:34:56 GMT");
}

}  // namespace
}  // namespace edge
