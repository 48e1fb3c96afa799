#include "runtime/observe/trace/tracer.h"

#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/observe/trace/test_fields.h"

namespace edge::runtime::trace {
namespace {

using testing::TestFields;
using Sender = Tracer::Sender;

constexpr std::string_view kSampled = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n";
constexpr std::string_view kNotSampled = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00\r\n";

class TracerTest : public ::testing::Test {
 protected:
  std::size_t spans_of(std::string_view lines, unsigned percent, int requests, Sender sender = Sender::kBelieved) {
    const TestFields fields(lines);
    std::size_t before = buffer_.added();
    for (int i = 0; i < requests; ++i) {
      const TracePointer trace = tracer_.begin(fields.get(), sender, percent);
      trace->end("GET", {});
    }
    return buffer_.added() - before;
  }

  const std::function<void()> many_;
  SpanBuffer buffer_{many_};
  Tracer tracer_{&buffer_};
};

TEST_F(TracerTest, SamplesAsManyAsItIsTold) {
  EXPECT_EQ(spans_of("", 0, 1000), 0U);
  EXPECT_EQ(spans_of("", 100, 1000), 1000U);
  const std::size_t half = spans_of("", 50, 10000);
  EXPECT_GT(half, 4500U);
  EXPECT_LT(half, 5500U);
}

TEST_F(TracerTest, KeepsTheSendersDecision) {
  EXPECT_EQ(spans_of(kSampled, 0, 100), 100U);
  EXPECT_EQ(spans_of(kNotSampled, 100, 100), 0U);
  // It named a trace, and no decision.
  EXPECT_EQ(spans_of("b3: 0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331\r\n", 100, 100), 100U);
}

TEST_F(TracerTest, AStrangerDecidesNothing) {
  constexpr std::string_view kDebug = "b3: 0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-d\r\n";
  EXPECT_EQ(spans_of(kSampled, 0, 100, Sender::kStranger), 0U);
  EXPECT_EQ(spans_of(kDebug, 0, 100, Sender::kStranger), 0U);
  EXPECT_EQ(spans_of("X-B3-Flags: 1\r\n", 0, 100, Sender::kStranger), 0U);
  EXPECT_EQ(spans_of("b3: 1\r\n", 0, 100, Sender::kStranger), 0U);
  // Nor may anybody keep out of what is looked at.
  EXPECT_EQ(spans_of(kNotSampled, 100, 100, Sender::kStranger), 100U);
  EXPECT_EQ(spans_of("b3: 0\r\n", 100, 100, Sender::kStranger), 100U);
}

// The trace that is named goes on; what a sender or its vendor has decided does not.
TEST_F(TracerTest, AStrangersDecisionIsNotHandedOn) {
  const auto reported = [&](std::string_view lines, unsigned percent) {
    const TestFields fields(lines);
    const TracePointer trace = tracer_.begin(fields.get(), Sender::kStranger, percent);
    char room[512];
    net::http1::HeadWriter out(room, sizeof room);
    trace->write(0, out);
    return std::string(out.text());
  };
  EXPECT_THAT(reported(std::string(kSampled) + "tracestate: dd=s:2\r\n", 0),
              ::testing::MatchesRegex("traceparent: 00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00\r\n"));
  EXPECT_THAT(reported("b3: 0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-d\r\n", 100),
              ::testing::ContainsRegex("b3: 0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-1-"));
}

TEST_F(TracerTest, WhereNobodyExportsTheDecisionIsStillTold) {
  Tracer tracer(nullptr);
  const TestFields fields("");
  const TracePointer trace = tracer.begin(fields.get(), Sender::kBelieved, 100);
  EXPECT_FALSE(trace->recorded());
  EXPECT_FALSE(trace->begin_step());
  char room[256];
  net::http1::HeadWriter out(room, sizeof room);
  trace->write(0, out);
  EXPECT_THAT(std::string(out.text()), ::testing::EndsWith("-01\r\n"));
}

// A span of ours that nobody ever gets would tear the sender's trace.
TEST_F(TracerTest, WhereNobodyExportsTheSendersSpanIsHandedOn) {
  Tracer tracer(nullptr);
  const auto reported = [&](std::string_view lines) {
    const TestFields fields(lines);
    const TracePointer trace = tracer.begin(fields.get(), Sender::kBelieved, 100);
    char room[512];
    net::http1::HeadWriter out(room, sizeof room);
    trace->write(0, out);
    return std::string(out.text());
  };
  constexpr std::string_view kB3 = "b3: 0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1";
  EXPECT_EQ(reported(kSampled), kSampled);
  EXPECT_EQ(reported(std::string(kB3) + "-05e3ac9a4f6e3b90\r\n"), std::string(kSampled) + std::string(kB3) + "\r\n");
  EXPECT_THAT(reported("X-B3-TraceId: 0af7651916cd43dd8448eb211c80319c\r\nX-B3-SpanId: b7ad6b7169203331\r\n"),
              ::testing::EndsWith("X-B3-SpanId: b7ad6b7169203331\r\nX-B3-Sampled: 1\r\n"));
}

TEST_F(TracerTest, IdsAreNew) {
  std::set<std::uint64_t> ids;
  IdSource one;
  IdSource two;
  for (int i = 0; i < 1000; ++i) {
    ids.insert(one.next());
    ids.insert(two.next());
  }
  EXPECT_EQ(ids.size(), 2000U);
  EXPECT_FALSE(ids.contains(0));
}

TEST_F(TracerTest, ATriesIdIsTheOneThatTheBackendWasTold) {
  const TestFields fields("b3: 1\r\n");
  const TracePointer trace = tracer_.begin(fields.get(), Sender::kBelieved, 100);
  char room[512];
  net::http1::HeadWriter out(room, sizeof room);
  trace->write(0, out);
  const std::span<char> head(room, out.size());
  const auto reported = [&](SpanId id) {
    const SpanText text = text_of(id);
    const std::string_view all(head.data(), head.size());
    std::size_t times = 0;
    for (std::size_t at = 0; (at = all.find({text.data(), text.size()}, at)) != std::string_view::npos; ++at) ++times;
    return times;
  };
  // The connection that the pool had was dead: nothing was sent, and no try was told.
  const Step unsent = trace->begin_try();
  const Step first = trace->begin_try();
  EXPECT_EQ(first.id, unsent.id);
  EXPECT_EQ(reported(first.id), 2U);
  trace->step_attributes();
  trace->end_step(first, SpanKind::kClient, "try", {});
  trace->renew_try(head);
  const Step second = trace->begin_try();
  EXPECT_NE(first.id, second.id);
  EXPECT_EQ(reported(first.id), 0U);
  EXPECT_EQ(reported(second.id), 2U);
  // The same head once more: two spans never have one id.
  trace->end_step(second, SpanKind::kClient, "try", {});
  EXPECT_NE(trace->begin_try().id, second.id);
}

std::vector<SpanBuffer::Taken> take(SpanBuffer& buffer) {
  std::vector<SpanBuffer::Taken> taken;
  buffer.take(taken);
  return taken;
}

std::size_t count_of(const std::vector<SpanBuffer::Taken>& all) {
  std::size_t count = 0;
  for (const SpanBuffer::Taken& taken : all) count += taken.count;
  return count;
}

TEST_F(TracerTest, WhatNobodyFetchesIsDroppedAndCounted) {
  const std::string spans(SpanBuffer::kChunk / 4, 'x');
  const std::size_t room = SpanBuffer::kMaxBytes / spans.size();
  for (std::size_t i = 0; i < room + 10; ++i) buffer_.add(spans, 2);
  EXPECT_EQ(buffer_.added(), 2 * room);
  EXPECT_EQ(buffer_.dropped(), 20U);
  const std::vector<SpanBuffer::Taken> taken = take(buffer_);
  EXPECT_EQ(count_of(taken), 2 * room);
  for (const SpanBuffer::Taken& one : taken) EXPECT_EQ(one.bytes, std::string(SpanBuffer::kChunk, 'x'));
  // What was given out is not written over before the next turn.
  for (std::size_t i = 0; i < room / 2; ++i) buffer_.add(std::string(spans.size(), 'y'), 1);
  for (const SpanBuffer::Taken& one : taken) EXPECT_EQ(one.bytes.find('y'), std::string_view::npos);
  EXPECT_EQ(count_of(take(buffer_)), room / 2);
}

TEST_F(TracerTest, WhatIsLeftOfAChunkIsFetchedByItself) {
  buffer_.add("one", 1);
  EXPECT_EQ(take(buffer_).at(0).bytes, "one");
  EXPECT_TRUE(take(buffer_).empty());
  buffer_.add("two", 1);
  buffer_.add(std::string(SpanBuffer::kChunk, 'x'), 5);
  const std::vector<SpanBuffer::Taken> taken = take(buffer_);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].bytes, "two");
  EXPECT_EQ(taken[1].count, 5U);
}

TEST_F(TracerTest, ARequestMayTellMoreThanAChunkHolds) {
  buffer_.add(std::string(SpanBuffer::kChunk + 1, 'x'), 7);
  buffer_.add("next", 1);
  const std::vector<SpanBuffer::Taken> taken = take(buffer_);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_EQ(taken[0].bytes.size(), SpanBuffer::kChunk + 1);
  EXPECT_EQ(taken[1].bytes, "next");
  buffer_.add(std::string(SpanBuffer::kMaxBytes + 1, 'x'), 7);
  EXPECT_EQ(buffer_.dropped(), 7U);
}

TEST(SpanBuffers, WakeTheExporterOnceThereAreMany) {
  SpanBuffers buffers;
  int calls = 0;
  buffers.on_many([&] { ++calls; });
  SpanBuffer& buffer = buffers.add_thread();
  const std::string spans(SpanBuffer::kChunk / 4, 'x');
  for (int i = 0; i < 10; ++i) buffer.add(spans, 1);
  EXPECT_EQ(calls, 1);
  std::vector<SpanBuffer::Taken> taken;
  buffers.take(taken);
  EXPECT_EQ(count_of(taken), 10U);
  for (int i = 0; i < 4; ++i) buffer.add(spans, 1);
  EXPECT_EQ(calls, 2);
}

// So much that chunks are left, sent from and used again meanwhile. Under TSan this shows that who fills one and who
// reads of it need no lock.
TEST(SpanBuffers, AreFilledAndFetchedAtTheSameTime) {
  constexpr std::size_t kThreads = 3;
  constexpr std::size_t kEach = 20000;
  constexpr std::size_t kSpanBytes = 1000;
  SpanBuffers buffers;
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&buffer = buffers.add_thread()] {
      std::string span(kSpanBytes, ' ');
      for (std::size_t k = 0; k < kEach; ++k) {
        span.assign(kSpanBytes, static_cast<char>('a' + k % 26));
        buffer.add(span, 1);
      }
    });
  }
  std::size_t fetched = 0;
  std::size_t torn = 0;
  std::vector<SpanBuffer::Taken> all;
  const auto fetch = [&] {
    buffers.take(all);
    for (const SpanBuffer::Taken& taken : all) {
      EXPECT_EQ(taken.bytes.size(), kSpanBytes * taken.count);
      for (std::size_t at = 0; at < taken.bytes.size(); at += kSpanBytes) {
        torn += taken.bytes.substr(at, kSpanBytes) != std::string(kSpanBytes, taken.bytes[at]) ? 1 : 0;
      }
      fetched += taken.count;
    }
  };
  while (buffers.added() + buffers.dropped() < kThreads * kEach) fetch();
  for (std::thread& thread : threads) thread.join();
  fetch();
  EXPECT_EQ(torn, 0U);
  EXPECT_EQ(fetched, buffers.added());
  EXPECT_EQ(fetched + buffers.dropped(), kThreads * kEach);
}

}  // namespace
}  // namespace edge::runtime::trace
