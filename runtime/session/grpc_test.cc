#include "runtime/session/grpc.h"

#include <gtest/gtest.h>

#include "net/http1/parse.h"
#include "runtime/session/reply.h"

namespace edge::runtime {
namespace {

using namespace std::chrono_literals;

/// The fields of a request with these lines.
struct Parsed {
  explicit Parsed(const std::string& lines) : text("POST /a.B/C HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n") {
    net::http1::ParseHint hint;
    const auto result = net::http1::parse_request(text, {}, hint, head);
    EXPECT_EQ(result.state, net::http1::ParseState::kComplete) << text;
  }
  std::string text;
  net::http1::RequestHead head;
};

TEST(Grpc, IsToldByItsContentType) {
  for (const char* type : {"application/grpc", "application/grpc+proto", "Application/GRPC;x=y"}) {
    EXPECT_TRUE(is_grpc(Parsed("Content-Type: " + std::string(type) + "\r\n").head.fields)) << type;
  }
  for (const char* type : {"application/grpc-web", "application/grpcs", "application/json", "text/plain"}) {
    EXPECT_FALSE(is_grpc(Parsed("Content-Type: " + std::string(type) + "\r\n").head.fields)) << type;
  }
  EXPECT_FALSE(is_grpc(Parsed("").head.fields));
}

TEST(Grpc, TheTimeThatACallerGives) {
  const auto given = [](const std::string& value) {
    return grpc_timeout(Parsed("grpc-timeout: " + value + "\r\n").head.fields);
  };
  EXPECT_EQ(given("1H"), 1h);
  EXPECT_EQ(given("2M"), 2min);
  EXPECT_EQ(given("3S"), 3s);
  EXPECT_EQ(given("250m"), 250ms);
  EXPECT_EQ(given("99999999u"), 99999999us);
  EXPECT_EQ(given("0n"), 0ns);
  EXPECT_GT(given("99999999H"), std::chrono::hours(24 * 365 * 100));
  for (const char* bad : {"", "1", "S", "-1S", "1s", "1.5S", "100000000n", "1 S", "0x1S"}) {
    EXPECT_EQ(given(bad), std::nullopt) << bad;
  }
  EXPECT_EQ(grpc_timeout(Parsed("").head.fields), std::nullopt);
}

TEST(Grpc, OurAnswersAreOnesThatACallUnderstands) {
  const auto written = [](const Reply& reply, const std::string& lines) {
    char buffer[1024];
    net::http1::HeadWriter out(buffer, sizeof(buffer));
    ReplyContext context;
    context.form = reply_form(Parsed(lines).head.fields);
    context.date = "now";
    std::string text;
    const std::string_view body = write_reply(reply, context, out, text);
    return std::string(out.text()).append(body);
  };
  const Reply reply{503, "no-endpoint", "No endpoint of the backend is available.", {}, false};
  EXPECT_EQ(written(reply, "Content-Type: application/grpc+proto\r\nAccept: application/problem+json\r\n"),
            "HTTP/1.1 200 OK\r\nDate: now\r\nContent-Type: application/grpc\r\nContent-Length: 0\r\ngrpc-status: 14\r\n"
            "grpc-message: No endpoint of the backend is available.\r\nX-Edge-Reason: no-endpoint\r\n\r\n");
  EXPECT_TRUE(written(reply, "Content-Type: text/plain\r\n").starts_with("HTTP/1.1 503 "));
}

TEST(Grpc, EachStatusHasItsCode) {
  const std::pair<int, int> pairs[] = {{400, 13}, {401, 16}, {403, 7},  {404, 12}, {408, 4}, {413, 8}, {429, 14},
                                       {431, 8},  {500, 13}, {502, 14}, {503, 14}, {504, 4}, {301, 2}, {421, 2}};
  for (const auto& [status, code] : pairs) EXPECT_EQ(grpc_status(status), code) << status;
}

}  // namespace
}  // namespace edge::runtime
