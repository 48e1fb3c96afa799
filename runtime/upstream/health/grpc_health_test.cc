#include "runtime/upstream/health/grpc_health.h"

#include <gtest/gtest.h>

namespace edge::runtime {
namespace {

using namespace std::string_literals;

TEST(GrpcHealth, AsksAboutAService) {
  EXPECT_EQ(grpc_check_request(""), "\0\0\0\0\0"s);
  EXPECT_EQ(grpc_check_request("shop.Cart"), "\0\0\0\0\x0b\x0a\x09shop.Cart"s);
  const std::string longer = grpc_check_request(std::string(300, 'x'));
  EXPECT_EQ(longer.substr(0, 8), "\0\0\0\x01\x2f\x0a\xac\x02"s);
  EXPECT_EQ(longer.size(), 308u);
}

TEST(GrpcHealth, ServingAloneIsWell) {
  EXPECT_EQ(grpc_check_fault("\0\0\0\0\x02\x08\x01"s, "0"), "");
  EXPECT_EQ(grpc_check_fault("\0\0\0\0\x02\x08\x02"s, "0"), "NOT_SERVING");
  EXPECT_EQ(grpc_check_fault("\0\0\0\0\x02\x08\x03"s, "0"), "SERVICE_UNKNOWN");
  EXPECT_EQ(grpc_check_fault("\0\0\0\0\0"s, "0"), "UNKNOWN") << "the default of the field";
  EXPECT_EQ(grpc_check_fault("\0\0\0\0\x07\x12\x03"s
                             "abc\x08\x01"s,
                             "0"),
            "")
      << "a field that we do not know";
  EXPECT_EQ(grpc_check_fault("", "5"), "grpc-status 5") << "NOT_FOUND: no such service";
  EXPECT_EQ(grpc_check_fault("", ""), "no grpc-status");
}

TEST(GrpcHealth, MalformedAnswersAreNotWell) {
  for (const std::string& body :
       {""s, "\0\0\0\0"s, "\x01\0\0\0\x02\x08\x01"s, "\0\0\0\0\x03\x08\x01"s, "\0\0\0\0\x01\x08"s, "\0\0\0\0\x01\x80"s,
        "\0\0\0\0\x02\x0a\x05"s, "\0\0\0\0\x02\x0d\x01"s, "\0\0\0\0\x02\x08\x01x"s}) {
    EXPECT_EQ(grpc_check_fault(body, "0"), "malformed answer") << testing::PrintToString(body);
  }
}

}  // namespace
}  // namespace edge::runtime
