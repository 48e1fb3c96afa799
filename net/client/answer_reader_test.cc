#include "net/client/answer_reader.h"

#include <string>

#include <gtest/gtest.h>

namespace edge::net::client {
namespace {

using State = AnswerReader::State;

constexpr AnswerReader::Limits kLimits = {.head = 256, .body = 16};

struct Read {
  Answer answer;
  bool done = false;
  bool keeps_alive = false;
  std::string left;
};

/// As if `text` came in pieces of so many bytes, and then the end.
Read read(const std::string& text, std::size_t piece, http1::Method method = http1::Method::kGet) {
  http1::ResponseHead scratch;
  AnswerReader reader(method, kLimits, scratch);
  Read out;
  std::string unread;
  for (std::size_t at = 0; at < text.size() && !out.done; at += piece) {
    unread += text.substr(at, piece);
    std::size_t consumed = 0;
    out.done = reader.take(unread, consumed) == State::kDone;
    unread.erase(0, consumed);
  }
  if (!out.done) reader.end();
  out.keeps_alive = reader.keeps_alive();
  out.left = unread;
  out.answer = reader.take_answer();
  return out;
}

Read read(const std::string& text) {
  Read whole = read(text, text.size());
  const Read torn = read(text, 1);
  EXPECT_EQ(torn.answer.fault, whole.answer.fault) << text;
  EXPECT_EQ(torn.answer.body, whole.answer.body) << text;
  EXPECT_EQ(torn.keeps_alive, whole.keeps_alive) << text;
  return whole;
}

TEST(AnswerReader, ReadsAnAnswerToItsEnd) {
  const Read got = read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: 1\r\nConnection: x-hop\r\nX-Hop: y\r\n\r\nok");
  EXPECT_TRUE(got.answer.ok());
  EXPECT_EQ(got.answer.status, 200);
  EXPECT_EQ(got.answer.body, "ok");
  EXPECT_EQ(got.answer.value("x-a"), "1");
  EXPECT_EQ(got.answer.value("x-hop"), "") << "hop by hop";
  EXPECT_TRUE(got.keeps_alive);
}

TEST(AnswerReader, TakesChunksAndBodiesThatEndWithTheirConnection) {
  const Read chunks = read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n1\r\n!\r\n0\r\n\r\n");
  EXPECT_EQ(chunks.answer.body, "ok!");
  EXPECT_TRUE(chunks.keeps_alive);
  const Read until_close = read("HTTP/1.1 200 OK\r\n\r\nok");
  EXPECT_TRUE(until_close.answer.ok());
  EXPECT_EQ(until_close.answer.body, "ok");
  EXPECT_FALSE(until_close.keeps_alive);
}

TEST(AnswerReader, PassesInterimAnswersBy) {
  EXPECT_EQ(read("HTTP/1.1 103 x\r\nLink: y\r\n\r\nHTTP/1.1 204 z\r\n\r\n").answer.status, 204);
  std::string many;
  for (int i = 0; i < 9; ++i) many += "HTTP/1.1 103 x\r\n\r\n";
  EXPECT_EQ(read(many + "HTTP/1.1 204 z\r\n\r\n").answer.fault, CallFault::kMalformed);
  EXPECT_EQ(read("HTTP/1.1 101 x\r\nUpgrade: y\r\nConnection: upgrade\r\n\r\n").answer.fault, CallFault::kMalformed);
}

TEST(AnswerReader, AHeadAnswerHasNoBody) {
  const Read got = read("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 7, http1::Method::kHead);
  EXPECT_TRUE(got.answer.ok());
  EXPECT_TRUE(got.keeps_alive);
}

TEST(AnswerReader, HoldsToItsLimits) {
  const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_TRUE(read("HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n0123456789abcdef").answer.ok());
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n0123456789abcdefg").answer.fault, CallFault::kTooLarge);
  EXPECT_TRUE(read(chunked + "10\r\n0123456789abcdef\r\n0\r\n\r\n").answer.ok());
  EXPECT_EQ(read(chunked + "11\r\n0123456789abcdefg\r\n0\r\n\r\n").answer.fault, CallFault::kTooLarge);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\n\r\n0123456789abcdefg").answer.fault, CallFault::kTooLarge);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nX: " + std::string(300, 'a')).answer.fault, CallFault::kTooLarge);
}

TEST(AnswerReader, RefusesWhatHasTwoMeanings) {
  for (const std::string& head :
       {std::string("200 OK\r\n\r\n"), std::string("HTTP/1.1 200 OK\nX: y\n\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n")}) {
    EXPECT_EQ(read(head).answer.fault, CallFault::kMalformed) << head;
  }
}

TEST(AnswerReader, AnEndThatComesTooEarlyIsNone) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Le").answer.fault, CallFault::kClosed);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab").answer.fault, CallFault::kClosed);
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n").answer.fault, CallFault::kClosed);
}

TEST(AnswerReader, LeavesWhatFollowsUnread) {
  EXPECT_EQ(read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1", 64).left, "HTTP/1.1");
}

}  // namespace
}  // namespace edge::net::client
