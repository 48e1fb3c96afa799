#include "daemon/grpc_log.h"

#include <grpc/support/log.h>
#include <gtest/gtest.h>

#include "base/test_log.h"

namespace edge::daemon {
namespace {

TEST(GrpcLine, SaysWhyAHandshakeFailed) {
  const GrpcLine line = read_grpc_line(
      "Handshake failed with fatal error SSL_ERROR_SSL: error:0A0000C7:SSL routines::peer did not return a "
      "certificate");
  EXPECT_EQ(line.text, "a gRPC connection ended in its TLS handshake");
  EXPECT_EQ(line.reason, "peer did not return a certificate");
}

TEST(GrpcLine, TakesTheFirstOfSeveralCauses) {
  const GrpcLine line = read_grpc_line(
      "Handshake failed with fatal error SSL_ERROR_SSL: error:0A000086:SSL routines::certificate verify failed: "
      "error:0A000197:SSL routines::shutdown while in init");
  EXPECT_EQ(line.reason, "certificate verify failed");
}

TEST(GrpcLine, KeepsTheWordsOfWhatItDoesNotKnow) {
  EXPECT_EQ(read_grpc_line("UNKNOWN: something").reason, "UNKNOWN: something");
  EXPECT_LE(read_grpc_line(std::string(100'000, 'x')).reason.size(), 300U);
}

TEST(GrpcLog, TellsAFewLinesAndCountsTheOthersWhileItLives) {
  TestLog log;
  // Before its first use of the library gRPC writes nothing.
  ::gpr_log_verbosity_init();
  {
    const GrpcLog grpc(log.logger());
    for (int i = 0; i < 100; ++i) ::gpr_log("here.cc", 1, GPR_LOG_SEVERITY_ERROR, "Failed accept4: %d", i);
    EXPECT_EQ(log.lines().size(), 5U);
  }
  ::gpr_log("here.cc", 1, GPR_LOG_SEVERITY_ERROR, "too late");
  EXPECT_EQ(log.lines().size(), 5U);
}

}  // namespace
}  // namespace edge::daemon
