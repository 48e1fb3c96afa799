#include "net/client/answer_lifetime.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace edge::net::client {
namespace {

using namespace std::chrono_literals;

std::chrono::seconds lifetime_of(const std::string& message) {
  // Of exactly its size, so that a sanitizer sees a read beyond it.
  const std::vector<unsigned char> bytes(message.begin(), message.end());
  return least_lifetime(bytes);
}

std::string header(char questions, char answers) {
  return std::string("\0\1\x81\x80\0", 5) + questions + std::string(1, '\0') + answers + std::string(4, '\0');
}

const std::string kQuestion("\5_http\4_tcp\1a\4test\0\0\x21\0\1", 23);

std::string record(const std::string& name, const std::string& lifetime) {
  return name + std::string("\0\x21\0\1", 4) + lifetime + std::string("\0\x07\0\0\0\5\0\x50\0", 9);
}

const std::string kPointer("\xc0\x0c", 2);
const std::string kName("\1a\4test\0", 8);
const std::string kFiveMinutes("\0\0\1\x2c", 4);
const std::string kOneMinute("\0\0\0\x3c", 4);

TEST(AnswerLifetimeTest, IsTheLeastOfItsRecords) {
  EXPECT_EQ(lifetime_of(header(1, 1) + kQuestion + record(kPointer, kFiveMinutes)), 300s);
  EXPECT_EQ(lifetime_of(header(1, 2) + kQuestion + record(kPointer, kFiveMinutes) + record(kName, kOneMinute)), 60s);
  EXPECT_EQ(lifetime_of(header(0, 2) + record(kName, kOneMinute) + record(kName, kFiveMinutes)), 60s);
  EXPECT_EQ(lifetime_of(header(1, 1) + kQuestion + record(kPointer, std::string(4, '\xff'))), 2147483647s);
}

TEST(AnswerLifetimeTest, OfWhatIsTornIsNone) {
  const std::string whole =
      header(1, 2) + kQuestion + record(kPointer, kFiveMinutes) + record("\1b" + kPointer, kOneMinute);
  ASSERT_EQ(lifetime_of(whole), 60s);
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_EQ(lifetime_of(whole.substr(0, size)), 0s) << size;
  EXPECT_EQ(lifetime_of(header(0, 1) + record("\x40" + kName, kOneMinute)), 0s) << "no label has that length";
}

}  // namespace
}  // namespace edge::net::client
