#include "runtime/observe/trace/trace_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/observe/trace/test_fields.h"

namespace edge::runtime::trace {
namespace {

using testing::TestFields;

constexpr std::string_view kTrace = "0af7651916cd43dd8448eb211c80319c";
constexpr std::string_view kSpan = "b7ad6b7169203331";

/// `trace/parent/decision`, and behind it what else was read.
std::string read(std::string_view lines) {
  const TestFields fields(lines);
  const TraceContext context = read_trace_context(fields.get());
  std::string text;
  if (context.trace.none()) {
    text = "-";
  } else {
    const TraceText trace = text_of(context.trace);
    const SpanText span = text_of(context.parent);
    text = std::string(trace.begin(), trace.end()) + "/" + std::string(span.begin(), span.end());
  }
  text += context.sampled ? (*context.sampled ? "/yes" : "/no") : "/?";
  if (context.debug) text += " debug";
  if (context.b3_single) text += " b3";
  if (context.b3_multi) text += " x-b3";
  if (context.short_id) text += " short";
  if (!context.state.empty()) text += " [" + context.state + "]";
  return text;
}

std::string parent(std::string_view value) { return read("traceparent: " + std::string(value) + "\r\n"); }
std::string b3(std::string_view value) { return read("b3: " + std::string(value) + "\r\n"); }

const std::string kBoth = std::string(kTrace) + "/" + std::string(kSpan);
const std::string kGood = "00-" + std::string(kTrace) + "-" + std::string(kSpan);
const std::string kParentLine = "traceparent: " + kGood + "-01\r\n";

TEST(TraceContext, ReadsTraceparent) {
  EXPECT_EQ(parent(kGood + "-01"), kBoth + "/yes");
  EXPECT_EQ(parent(kGood + "-00"), kBoth + "/no");
  // Flags that we do not know are passed over (§3.2.2.5).
  EXPECT_EQ(parent(kGood + "-ff"), kBoth + "/yes");
  EXPECT_EQ(parent(kGood + "-fe"), kBoth + "/no");
  EXPECT_EQ(read("TraceParent: " + kGood + "-01\r\n"), kBoth + "/yes");
}

TEST(TraceContext, TakesOfLaterVersionsWhatItKnows) {
  const std::string later = "cc" + kGood.substr(2);
  EXPECT_EQ(parent(later + "-01"), kBoth + "/yes");
  EXPECT_EQ(parent(later + "-01-what-the-future-will-be-like"), kBoth + "/yes");
  EXPECT_EQ(parent(later + "-01.what"), "-/?");
  EXPECT_EQ(parent("ff" + kGood.substr(2) + "-01"), "-/?");
}

TEST(TraceContext, PassesOverATraceparentAtFault) {
  const std::string faults[] = {
      "",
      "00",
      kGood,
      kGood + "-0",
      kGood + "-01-",
      kGood + "-011",
      kGood + "-0x",
      kGood + "-0A",
      "0" + kGood + "-01",
      "0x" + kGood.substr(2) + "-01",
      "00_" + kGood.substr(3) + "-01",
      "00-" + std::string(32, '0') + "-" + std::string(kSpan) + "-01",
      "00-" + std::string(kTrace) + "-" + std::string(16, '0') + "-01",
      "00-0AF7651916CD43DD8448EB211C80319C-" + std::string(kSpan) + "-01",
      "00-" + std::string(kTrace) + "-B7AD6B7169203331-01",
      "00-" + std::string(kTrace).substr(1) + "-" + std::string(kSpan) + "-011",
      "00-" + std::string(kTrace) + "g-" + std::string(kSpan).substr(1) + "-01",
  };
  for (const std::string& fault : faults) EXPECT_EQ(parent(fault), "-/?") << fault;
  // Two of them: nobody knows which is meant.
  EXPECT_EQ(read(kParentLine + kParentLine), "-/?");
  // What looks like it is something else.
  EXPECT_EQ(read("trace_parent: " + kGood + "-01\r\n"), "-/?");
}

TEST(TraceContext, HandsTracestateOn) {
  const auto state = [](std::string_view lines) { return read(kParentLine + std::string(lines)); };
  EXPECT_EQ(state("tracestate: a=1\r\n"), kBoth + "/yes [a=1]");
  EXPECT_EQ(state("tracestate: a=1 , b@v=2,, \t c=x y\r\ntracestate: d=4\r\n"), kBoth + "/yes [a=1,b@v=2,c=x y,d=4]");
  EXPECT_EQ(state("tracestate: \r\n"), kBoth + "/yes");
  // A list that is none goes as a whole.
  for (const std::string_view fault : {"a", "=1", "A=1", "a=", "a=1=2", "-a=1", "a b=1", "a=\x80", "a=1,b"}) {
    EXPECT_EQ(state("tracestate: " + std::string(fault) + "\r\n"), kBoth + "/yes") << fault;
  }
  // Without a traceparent it means nothing.
  EXPECT_EQ(read("tracestate: a=1\r\n"), "-/?");
  EXPECT_EQ(read("tracestate: a=1\r\nb3: " + std::string(kTrace) + "-" + std::string(kSpan) + "\r\n"), kBoth + "/? b3");
}

TEST(TraceContext, BoundsTracestate) {
  const auto members = [](int count, std::size_t size) {
    std::string lines = kParentLine + "tracestate: ";
    for (int i = 0; i < count; ++i) {
      lines += (i == 0 ? "k" : ",k") + std::to_string(i) + "=" + std::string(size, 'v');
    }
    const TestFields fields(lines + "\r\n");
    return read_trace_context(fields.get()).state;
  };
  EXPECT_EQ(members(31, 1).size(), 31 * 4 + 21 + 30);
  EXPECT_EQ(members(32, 1).size(), 32 * 4 + 22 + 31);
  EXPECT_EQ(members(33, 1), "");
  EXPECT_EQ(members(1, 256).size(), 259);
  EXPECT_EQ(members(1, 257), "");
  // Those that came last go first.
  EXPECT_EQ(members(2, 252).size(), 511);
  EXPECT_EQ(members(3, 252).size(), 511);
  EXPECT_EQ(members(5, 100).size(), 4 * 103 + 3);
}

TEST(TraceContext, ReadsB3InOneField) {
  const std::string ids = std::string(kTrace) + "-" + std::string(kSpan);
  EXPECT_EQ(b3(ids + "-1"), kBoth + "/yes b3");
  EXPECT_EQ(b3(ids + "-0"), kBoth + "/no b3");
  EXPECT_EQ(b3(ids + "-d"), kBoth + "/yes debug b3");
  EXPECT_EQ(b3(ids), kBoth + "/? b3");
  EXPECT_EQ(b3(ids + "-1-05e3ac9a4f6e3b90"), kBoth + "/yes b3");
  EXPECT_EQ(b3("8448EB211C80319C-" + std::string(kSpan) + "-1"),
            "00000000000000008448eb211c80319c/b7ad6b7169203331/yes b3 short");
  EXPECT_EQ(b3("0"), "-/no b3");
  EXPECT_EQ(b3("1"), "-/yes b3");
  EXPECT_EQ(b3("d"), "-/yes debug b3");
  for (const std::string& fault :
       {std::string("-"), std::string("2"), std::string("true"), ids + "-", ids + "-x", ids + "-1-", ids + "-1-5",
        ids + "-1-05e3ac9a4f6e3b90-1", std::string(kTrace), std::string(kTrace) + "-", "0-" + ids,
        std::string(kTrace) + "-" + std::string(16, '0'), std::string(16, '0') + "-" + std::string(kSpan)}) {
    EXPECT_EQ(b3(fault), "-/?") << fault;
  }
}

TEST(TraceContext, ReadsB3InSeveralFields) {
  const std::string ids = "X-B3-TraceId: " + std::string(kTrace) + "\r\nX-B3-SpanId: " + std::string(kSpan) + "\r\n";
  EXPECT_EQ(read(ids), kBoth + "/? x-b3");
  EXPECT_EQ(read(ids + "X-B3-Sampled: 1\r\n"), kBoth + "/yes x-b3");
  EXPECT_EQ(read(ids + "X-B3-Sampled: true\r\n"), kBoth + "/yes x-b3");
  EXPECT_EQ(read(ids + "X-B3-Sampled: 0\r\nX-B3-ParentSpanId: 05e3ac9a4f6e3b90\r\n"), kBoth + "/no x-b3");
  EXPECT_EQ(read(ids + "X-B3-Sampled: 0\r\nX-B3-Flags: 1\r\n"), kBoth + "/yes debug x-b3");
  EXPECT_EQ(read(ids + "X-B3-Sampled: maybe\r\n"), kBoth + "/? x-b3");
  EXPECT_EQ(read("X-B3-Sampled: 0\r\n"), "-/no x-b3");
  EXPECT_EQ(read("X-B3-TraceId: " + std::string(kTrace) + "\r\n"), "-/?");
  EXPECT_EQ(read(ids + ids), "-/?");
}

TEST(TraceContext, ThinksMoreOfTraceparent) {
  const std::string other = "b3: 00000000000000010000000000000002-0000000000000003-0\r\n";
  EXPECT_EQ(read(kParentLine + other), kBoth + "/yes b3");
  EXPECT_EQ(read("traceparent: 00-x\r\n" + other), "00000000000000010000000000000002/0000000000000003/no b3");
  EXPECT_EQ(read(other + "X-B3-Sampled: 1\r\n"), "00000000000000010000000000000002/0000000000000003/no b3 x-b3");
}

TEST(TraceContext, KnowsItsFields) {
  for (const std::string_view name : {"traceparent", "TRACESTATE", "b3", "B3", "X-B3-TraceId", "x-b3-spanid",
                                      "X-B3-ParentSpanId", "X-B3-Sampled", "X-B3-Flags", "X_B3_Sampled"}) {
    EXPECT_TRUE(tells_of_trace(name)) << name;
  }
  for (const std::string_view name : {"trace", "b4", "b", "", "x-b3-trace", "x-request-id", "traceparent2"}) {
    EXPECT_FALSE(tells_of_trace(name)) << name;
  }
}

std::string reported(std::string_view lines, bool sampled) {
  const TestFields fields(lines);
  TraceContext context = read_trace_context(fields.get());
  if (context.trace.none()) context.trace = {1, 2};
  char room[1024];
  net::http1::HeadWriter out(room, sizeof room);
  write_trace_context({context, 0xa, 0xb, sampled}, out);
  return std::string(out.text());
}

TEST(TraceContext, IsToldInTheFormsThatCame) {
  const std::string trace(kTrace);
  EXPECT_EQ(reported("", true), "traceparent: 00-00000000000000010000000000000002-000000000000000b-01\r\n");
  EXPECT_EQ(reported(kParentLine + "tracestate: a=1\r\n", false),
            "traceparent: 00-" + trace + "-000000000000000b-00\r\ntracestate: a=1\r\n");
  EXPECT_EQ(
      reported("b3: " + trace + "-" + std::string(kSpan) + "-d\r\n", true),
      "traceparent: 00-" + trace + "-000000000000000b-01\r\nb3: " + trace + "-000000000000000b-d-000000000000000a\r\n");
  EXPECT_EQ(reported("X-B3-TraceId: 8448eb211c80319c\r\nX-B3-SpanId: 1111111111111111\r\n", false),
            "traceparent: 00-00000000000000008448eb211c80319c-000000000000000b-00\r\n"
            "X-B3-TraceId: 8448eb211c80319c\r\nX-B3-SpanId: 000000000000000b\r\n"
            "X-B3-ParentSpanId: 000000000000000a\r\nX-B3-Sampled: 0\r\n");
  EXPECT_THAT(reported("X-B3-Flags: 1\r\n", true), ::testing::EndsWith("X-B3-Flags: 1\r\n"));
}

}  // namespace
}  // namespace edge::runtime::trace
