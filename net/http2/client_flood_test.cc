// What a backend may not do to the connection, and to the streams beside its own, by saying much.
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "net/http2/test_client.h"

namespace edge::net::http2 {
namespace {

using namespace testing;

TEST_F(Http2Client, AFloodOfUnknownFramesEndsTheConnection) {
  auto stream = ask();
  int frames = 0;
  while (frames < 100'000 && !client.over() && say(frame(0xc, 0, 0, "an origin"))) {
    output();
    ++frames;
  }
  EXPECT_LT(frames, 2000);
}

TEST_F(Http2Client, AFloodOfFramesThatCarryNothingEndsTheConnection) {
  auto stream = ask();
  bool alive = true;
  int frames = 0;
  while (alive && frames < 100'000) {
    alive = say(frame(kPing, 0, 0, "12345678"));
    output();
    alive = alive && !client.over();
    ++frames;
  }
  EXPECT_LT(frames, 2000);
}

// A byte on the wire, four kilobytes once decoded: whether the field would be passed on or not, and whoever still
// reads.
TEST_F(Http2Client, FieldsThatHpackMakesLargeEndTheStream) {
  const std::string head = block({{":status", "200"}});
  const std::string with_length = block({{":status", "200"}, {"content-length", "1"}});
  const std::string interim = block({{":status", "103"}});
  std::uint32_t id = 1;
  for (const auto& [first, rest] : {std::pair{with_length, bomb("x", 8000)}, std::pair{head, bomb("set-cookie", 8000)},
                                    std::pair{std::string(), interim + bomb("content-length", 8000)}}) {
    auto stream = ask();
    if (!first.empty()) say(frame(kHeaders, kEndHeaders, id, first) + frame(kData, 0, id, "x"));
    EXPECT_TRUE(say(frame(kHeaders, first.empty() ? kEndHeaders : kEndHeaders | kEndStream, id, rest)));
    output();
    EXPECT_TRUE(stream->read().ends_with('!')) << id;
    id += 2;
  }
}

TEST_F(Http2Client, ASessionThatLeavesWithinAHeadLeavesTheOthersAlone) {
  auto stays = ask();
  auto leaves = ask();
  EXPECT_TRUE(say(frame(kHeaders, kEndStream, 3, block({{":status", "200"}}))));
  leaves.reset();
  output();
  EXPECT_TRUE(say(frame(kContinuation, kEndHeaders, 3, bomb("x", 8000))));
  output();
  EXPECT_TRUE(say(frame(kHeaders, kEndHeaders | kEndStream, 1, block({{":status", "204"}}))));
  EXPECT_EQ(stays->read(), "HTTP/1.1 204 No Content\r\n\r\n.");
}

TEST_F(Http2Client, InterimHeadsThatNobodyReadsAreBounded) {
  auto stream = ask();
  std::string heads;
  for (int i = 0; i < 100; ++i) {
    heads += frame(kHeaders, kEndHeaders, 1, block({{":status", "103"}}) + bomb("x", 10));
  }
  EXPECT_TRUE(say(heads));
  output();
  const std::string read = stream->read();
  EXPECT_TRUE(read.ends_with('!'));
  EXPECT_LT(read.size(), 400U * 1024);
}

TEST_F(Http2Client, BytesOfContentPayForNoFlood) {
  auto stream = ask();
  EXPECT_TRUE(say(frame(kHeaders, kEndHeaders, 1, block({{":status", "200"}}))));
  int frames = 0;
  while (frames < 100'000 && !client.over()) {
    say(frame(kData, 0, 1, "x") + frame(kPing, 0, 0, "12345678"));
    output();
    stream->read();
    ++frames;
  }
  EXPECT_LT(frames, 2000);
}

// As servers do that open both windows for each piece that they have read.
TEST_F(Http2Client, UpdatesForALargeRequestAreNoFlood) {
  auto stream = ask("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n");
  const std::string piece(4096, 'x');
  for (int i = 0; i < 5000; ++i) {
    ASSERT_TRUE(stream->write(piece)) << i;
    output();
    ASSERT_TRUE(say(frame(8, 0, 1, number(4096)) + frame(8, 0, 0, number(4096))));
    ASSERT_FALSE(client.closing()) << i;
  }
}

}  // namespace
}  // namespace edge::net::http2
