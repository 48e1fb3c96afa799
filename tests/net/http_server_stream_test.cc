// Answers of the small server that come in pieces: when they come, what announces them, and readers that stand still or
// go.
#include "tests/net/http_server_fixture.h"

namespace edge::net::server {
namespace {

TEST_F(HttpServerTest, StreamsWhatComesWhenItComes) {
  serve();
  const auto connection = connect();
  ASSERT_TRUE(connection->send("GET /lines HTTP/1.1\r\nHost: x\r\n\r\n").ok());
  Result<Message> head = connection->receive_head();
  ASSERT_TRUE(head.ok());
  for (const char* line : {"one\n", "two\n"}) {
    say(line);
    EXPECT_EQ(*connection->receive_chunk(), line);
  }
  say("three\n", true);
  EXPECT_EQ(*connection->receive_chunk(), "three\n");
  EXPECT_EQ(*connection->receive_chunk(), "");
  ASSERT_TRUE(connection->receive_until("\r\n").ok());
  EXPECT_TRUE(lines_.alive.reaches(0));
  ASSERT_TRUE(connection->send("GET /next HTTP/1.1\r\nHost: x\r\n\r\n").ok());
  EXPECT_EQ(next_answer(*connection), "200 GET /next? ");
}

TEST_F(HttpServerTest, AnOldClientsStreamEndsWithItsConnection) {
  serve();
  const auto connection = connect();
  ASSERT_TRUE(connection->send("GET /lines HTTP/1.0\r\n\r\n").ok());
  ASSERT_TRUE(connection->receive_head().ok());
  ASSERT_TRUE(lines_.alive.reaches(1));
  say("all\n", true);
  EXPECT_EQ(*connection->receive_all(), "all\n");
}

TEST_F(HttpServerTest, AStreamOfKnownSizeIsAnnouncedAndMustCome) {
  serve();
  const auto connection = connect();
  // Its end leaves the connection for the next.
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(connection->send("GET /known HTTP/1.1\r\nHost: x\r\n\r\n").ok());
    EXPECT_EQ(next_answer(*connection), "200 twelve bytes");
  }
  ASSERT_TRUE(connection->send("HEAD /known HTTP/1.1\r\nHost: x\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n").ok());
  const Result<Message> head = connection->receive_head();
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->values("content-length"), std::vector<std::string>{"12"});
  EXPECT_EQ(next_answer(*connection), "200 GET /next? ");
  for (const char* path : {"/short", "/long"}) {
    EXPECT_TRUE(ask(std::string("GET ") + path + " HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("no ")) << path;
  }
  EXPECT_TRUE(lines_.alive.reaches(0));
}

TEST_F(HttpServerTest, NoticesThatAClientHasGone) {
  serve();
  auto connection = connect();
  ASSERT_TRUE(connection->send("GET /lines HTTP/1.1\r\nHost: x\r\n\r\n").ok());
  ASSERT_TRUE(connection->receive_head().ok());
  ASSERT_TRUE(lines_.alive.reaches(1));
  connection.reset();
  EXPECT_TRUE(lines_.alive.reaches(0));
}

TEST_F(HttpServerTest, ARequestSentDuringAStreamWaits) {
  serve();
  const auto connection = connect();
  ASSERT_TRUE(connection->send("GET /lines HTTP/1.1\r\nHost: x\r\n\r\n").ok());
  ASSERT_TRUE(connection->receive_head().ok());
  ASSERT_TRUE(connection->send("GET /after HTTP/1.1\r\nHost: x\r\n\r\n").ok());
  ASSERT_TRUE(lines_.alive.reaches(1));
  say("end", true);
  EXPECT_EQ(*connection->receive_chunk(), "end");
  EXPECT_EQ(*connection->receive_chunk(), "");
  ASSERT_TRUE(connection->receive_until("\r\n").ok());
  EXPECT_EQ(next_answer(*connection), "200 GET /after? ");
}

TEST_F(HttpServerTest, AReaderThatStandsStillHoldsTheSourceAndIsLetGo) {
  serve({.stall_time = milliseconds(200)});
  const auto connection = connect();
  const int small = 4096;
  ASSERT_EQ(::setsockopt(connection->fd(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
  ASSERT_TRUE(connection->send("GET /endless HTTP/1.1\r\nHost: x\r\n\r\n").ok());
  ASSERT_TRUE(connection->receive_head().ok());
  ASSERT_TRUE(lines_.alive.reaches(0));
  // What was asked of the source is about what the kernel holds for a client.
  EXPECT_LT(lines_.given, std::size_t{16} << 20);
}

TEST_F(HttpServerTest, AThousandIdleStreamsAreHeldAndEndWithTheServer) {
  serve();
  std::vector<std::unique_ptr<Connection>> all;
  for (int i = 0; i < 1000; ++i) {
    all.push_back(connect());
    ASSERT_TRUE(all.back()->send("GET /lines HTTP/1.1\r\nHost: x\r\n\r\n").ok());
  }
  for (const auto& connection : all) ASSERT_TRUE(connection->receive_head().ok());
  ASSERT_TRUE(lines_.alive.reaches(1000));
  server_.reset();
  EXPECT_EQ(lines_.alive.value(), 0);
  for (const auto& connection : all) EXPECT_EQ(*connection->receive_chunk(), "");
}

}  // namespace
}  // namespace edge::net::server
