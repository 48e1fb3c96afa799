// What edgectl makes of trace servers' answers: Jaeger's and Tempo's come to the same page, hostile ones to an end.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "edgectl/traces/answers.h"
#include "edgectl/traces/trace_source.h"
#include "edgectl/traces/trace_tree.h"
#include "tests/traces/sample.h"

namespace edge::test {
namespace {

using edgectl::Fetched;
using edgectl::Trace;
using edgectl::TraceSource;
using edgectl::TraceSpan;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Answers by the path; notes what it was asked.
class Server {
 public:
  Server& on(const std::string& path, std::string body, int status = 200, std::string type = "application/json") {
    answers_[path] = {status, std::move(type), std::move(body)};
    return *this;
  }
  edgectl::Fetch fetch() {
    return [this](const std::string& target, const std::string&) -> Result<Fetched> {
      asked.push_back(target);
      const auto found = answers_.find(target.substr(0, target.find('?')));
      return found == answers_.end() ? Fetched{404, "text/plain", "nothing"} : found->second;
    };
  }
  std::vector<std::string> asked;

 private:
  std::map<std::string, Fetched> answers_;
};

Server jaeger() {
  Server server;
  server.on("/api/services", R"({"data":["edge","cart"]})");
  server.on("/api/traces", sample("checkout.jaeger.json"));
  server.on(std::string("/api/traces/") + kTrace, sample("checkout.jaeger.json"));
  return server;
}

Server tempo(bool json) {
  Server server;
  server.on("/api/search/tags", R"({"tagNames":["service.name"],"metrics":{}})");
  server.on("/api/search/tag/service.name/values", R"({"tagValues":["edge","cart"]})");
  server.on("/api/search", std::string(R"({"traces":[{"traceID":")") + kTrace +
                               R"(","rootServiceName":"edge","rootTraceName":"GET shop/cart",)" +
                               R"("startTimeUnixNano":"1760000000000000000","durationMs":12}]})");
  server.on(std::string("/api/traces/") + kTrace, sample(json ? "checkout.tempo.json" : "checkout.otlp"), 200,
            json ? "application/json" : "application/protobuf");
  return server;
}

Trace get(Server server) {
  const auto source = TraceSource::recognise(server.fetch());
  EXPECT_TRUE(source.ok());
  auto trace = source->get(kTrace);
  EXPECT_TRUE(trace.ok());
  return trace.ok() ? std::move(*trace) : Trace();
}

TraceSpan span(const std::string& id, const std::string& parent, std::int64_t start = 0, std::int64_t duration = 1) {
  TraceSpan span;
  span.id = id;
  span.parent = parent;
  span.operation = "op " + id;
  span.service = "edge";
  span.start_us = start;
  span.duration_us = duration;
  return span;
}

std::size_t lines_in(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

TEST(TraceCommands, ShowTheSameTreeOfEachServer) {
  // EDGE_UPDATE_TRACES=1 writes the page; read the difference.
  if (std::getenv("EDGE_UPDATE_TRACES") != nullptr) {
    std::ofstream(sample_path("checkout.page")) << trace_page(get(jaeger()), Colour::kNo);
  }
  const std::string expected = sample("checkout.page");
  EXPECT_EQ(trace_page(get(jaeger()), Colour::kNo), expected);
  EXPECT_EQ(trace_page(get(tempo(false)), Colour::kNo), expected);
  EXPECT_EQ(trace_page(get(tempo(true)), Colour::kNo), expected);
  EXPECT_THAT(trace_page(get(jaeger()), Colour::kYes), HasSubstr("\x1b[31m"));
  EXPECT_THAT(expected, Not(HasSubstr("\x1b")));
}

TEST(TraceCommands, SearchJaegerServiceByService) {
  Server server = jaeger();
  const auto source = TraceSource::recognise(server.fetch());
  ASSERT_TRUE(source.ok());
  EXPECT_THAT(*source->services(), ElementsAre("cart", "edge"));
  server.asked.clear();
  const auto found = source->search({.start_us = 5, .end_us = 6, .limit = 3});
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 1u) << "a trace of two services is one";
  EXPECT_EQ(found->front().operation, "GET shop/cart");
  EXPECT_EQ(found->front().spans, 5);
  EXPECT_EQ(found->front().errors, 1);
  EXPECT_EQ(found->front().duration_us, 12'500);
  EXPECT_THAT(server.asked,
              ElementsAre("/api/services", "/api/traces?service=cart&lookback=custom&start=5&end=6&limit=3",
                          "/api/traces?service=edge&lookback=custom&start=5&end=6&limit=3"));
  server.asked.clear();
  ASSERT_TRUE(source
                  ->search({.service = "a b",
                            .operation = "GET /",
                            .end_us = 1,
                            .least = "5ms",
                            .most = "1s",
                            .tags = {{"k", "v\""}}})
                  .ok());
  EXPECT_THAT(server.asked,
              ElementsAre("/api/traces?service=a%20b&operation=GET%20%2F&lookback=custom&start=0&end=1&limit=20"
                          "&minDuration=5ms&maxDuration=1s&tags=%7B%22k%22%3A%22v%5C%22%22%7D"));
}

TEST(TraceCommands, SearchTempo) {
  Server server = tempo(false);
  const auto source = TraceSource::recognise(server.fetch());
  ASSERT_TRUE(source.ok());
  EXPECT_THAT(*source->services(), ElementsAre("cart", "edge"));
  server.asked.clear();
  const auto found = source->search({.service = "edge",
                                     .operation = "GET",
                                     .start_us = 5'900'000,
                                     .end_us = 6'100'000,
                                     .least = "5ms",
                                     .tags = {{"k", "v\""}}});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->at(0).id, kTrace);
  EXPECT_EQ(found->at(0).spans, -1);
  EXPECT_EQ(found->at(0).duration_us, 12'000);
  EXPECT_THAT(server.asked,
              ElementsAre("/api/search?start=5&end=7&limit=20&tags=service.name%3D%22edge%22%20name%3D%22GET%22%20k%3D"
                          "%22v%5C%22%22&minDuration=5ms"));
}

TEST(TraceCommands, SayWhenAServerIsNeither) {
  Server other;
  other.on("/api/services", "<html>", 200, "text/html");
  const auto source = TraceSource::recognise(other.fetch());
  ASSERT_FALSE(source.ok());
  EXPECT_EQ(source.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(source.error().text,
            "neither Jaeger's API nor Tempo's is there: /api/services answered 200, /api/search/tags answered 404");
  Server empty = jaeger();
  empty.on("/api/traces/1", R"({"data":null,"errors":[{"code":404,"msg":"trace not found"}]})", 404);
  empty.on("/api/traces/2", R"({"data":[]})");
  empty.on("/api/traces/3", "[", 200);
  empty.on("/api/traces/4", R"({"errors":[{"msg":"slow"}]})", 500);
  empty.on("/api/traces/5", R"({"errors":[{"msg":"\u001b[2Jx"}]})", 500);
  const auto jaeger_source = TraceSource::recognise(empty.fetch());
  ASSERT_TRUE(jaeger_source.ok());
  EXPECT_EQ(jaeger_source->get("1").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(jaeger_source->get("2").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(jaeger_source->get("3").error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(jaeger_source->get("4").error().text, "/api/traces answered 500, slow");
  // What a server says moves no terminal's cursor.
  EXPECT_EQ(jaeger_source->get("5").error().text, "/api/traces answered 500, ?[2Jx");
}

TEST(TracePage, PlacesEverySpanOnce) {
  Trace ring{.id = "1", .spans = {span("a", "b"), span("b", "a"), span("c", "b"), span("d", "d"), span("e", "gone")}};
  // Two spans of one id, as a sender's fault makes them.
  ring.spans.push_back(span("c", ""));
  const std::string page = trace_page(ring, Colour::kNo);
  for (const TraceSpan& one : ring.spans) EXPECT_THAT(page, HasSubstr("op " + one.id));
  EXPECT_THAT(page, HasSubstr("its parents form a ring"));
  EXPECT_THAT(page, HasSubstr("its parent is not here"));
  EXPECT_EQ(lines_in(page), 7u + ring.spans.size());
}

/// Minutes, if each of the doubled ids had all the children looked at again.
TEST(TracePage, EndsWhereManySpansHaveOneId) {
  Trace trace{.id = "1"};
  for (int i = 0; i < 20'000; ++i) trace.spans.push_back(span("a", "", i));
  for (int i = 0; i < 20'000; ++i) trace.spans.push_back(span("b", "a", i));
  EXPECT_THAT(trace_page(trace, Colour::kNo), HasSubstr("… and 35000 more"));
}

TEST(TracePage, EndsWhateverTheDepthAndTheNumbers) {
  Trace chain{.id = "1"};
  for (int i = 0; i < 20'000; ++i) {
    chain.spans.push_back(span(std::to_string(i), i == 0 ? "" : std::to_string(i - 1), i));
  }
  const std::string page = trace_page(chain, Colour::kNo);
  EXPECT_THAT(page, HasSubstr("… and 15000 more"));
  EXPECT_LT(page.size(), std::size_t{4} << 20);

  const auto odd = edgectl::jaeger_traces(R"({"data":[{"traceID":"1","spans":[
    {"traceID":"1","spanID":"a","operationName":"\u001b[2Jx","startTime":9223372036854775807,"duration":9223372036854775807},
    {"traceID":"1","spanID":"b","operationName":7,"startTime":-5,"duration":"x","references":{},"tags":[1,{}]},
    3,{}],"processes":[]},5]})");
  ASSERT_TRUE(odd.has_value());
  ASSERT_EQ(odd->size(), 1u);
  EXPECT_THAT(trace_page(odd->front(), Colour::kNo), Not(HasSubstr("\x1b")));
  EXPECT_THAT(trace_page(Trace{.id = "1"}, Colour::kNo), HasSubstr("Spans:     0"));
}

TEST(TraceAnswers, AreRefusedWhenTheyAreNone) {
  const std::string deep = std::string(R"({"data":)") + std::string(100'000, '[');
  for (const std::string& body : {std::string(), std::string("{}"), std::string("[]"), std::string("null"), deep}) {
    EXPECT_FALSE(edgectl::jaeger_traces(body)) << body.substr(0, 10);
    EXPECT_FALSE(edgectl::jaeger_names(body)) << body.substr(0, 10);
    EXPECT_EQ(edgectl::jaeger_fault(body), "");
  }
  EXPECT_FALSE(edgectl::tempo_trace("\xff", false, "1"));
  EXPECT_FALSE(edgectl::tempo_trace("[]", true, "1"));
}

TEST(TraceTexts, AreShort) {
  EXPECT_EQ(edgectl::span_duration(0), "0us");
  EXPECT_EQ(edgectl::span_duration(999), "999us");
  EXPECT_EQ(edgectl::span_duration(12'500), "12.5ms");
  EXPECT_EQ(edgectl::span_duration(1'250'000), "1.25s");
  EXPECT_EQ(edgectl::span_duration(-3), "0us");
  EXPECT_EQ(edgectl::time_text(1'760'000'000'123'456), "2025-10-09T08:53:20.123Z");
}

TEST(JoinedTraces, HaveTheSpansOfBothStoresOnce) {
  Trace own{.id = "a1", .spans = {{.id = "1", .service = "hub"}, {.id = "2", .parent = "1", .service = "hub"}}};
  Trace theirs{.id = "a1", .spans = {{.id = "2", .service = "again"}, {.id = "3", .parent = "2", .service = "berlin"}}};
  join(own, theirs);
  ASSERT_EQ(own.spans.size(), 3U);
  EXPECT_EQ(own.spans[1].service, "hub");
  // One tree: the span of the other cluster is below the one that called it.
  EXPECT_THAT(trace_page(own, Colour::kNo), HasSubstr("berlin"));
  Trace none;
  join(none, own);
  EXPECT_EQ(none.id, "a1");
  EXPECT_EQ(none.spans.size(), 3U);
  Trace large{.id = "b", .spans = std::vector<TraceSpan>(edgectl::kMostSpans)};
  join(large, own);
  EXPECT_EQ(large.spans.size(), edgectl::kMostSpans);
  EXPECT_TRUE(large.cut);
}

}  // namespace
}  // namespace edge::test
