// What tracing costs a request that is recorded, by part and as a whole, but for the kernel's sending: CPU time of this
// process, nobody else's.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "bench/observe/measure.h"
#include "net/http1/parse.h"
#include "net/http1/write.h"
#include "runtime/observe/trace/span_exporter.h"
#include "runtime/observe/trace/tracer.h"

namespace edge::runtime::trace {
namespace {

constexpr int kRequests = 400'000;
constexpr std::string_view kHead =
    "GET /catalogue/shoes/42 HTTP/1.1\r\nHost: shop.example\r\nAccept: */*\r\nAccept-Encoding: gzip, br\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n\r\n";

/// Discards all spans.
class Nowhere final : public SpanSender {
 public:
  Sent send(const Message& /*message*/, Time /*until*/) override { return {Sent::How::kTaken, 0, {}, {}}; }
  void cancel() override {}
};

/// Span attributes of a route's requests, prepared as in a session.
struct Ready {
  Ready() {
    Attributes of_try;
    of_try.add("http.method", "GET");
    of_try.add("http.request.method", "GET");
    of_try.add("http.status_code", 200);
    of_try.add("http.response.status_code", 200);
    of_try.add("edge.backend", "shop/catalogue-v2");
    attempt = of_try.bytes();
    of_try.add("url.scheme", "https");
    of_try.add("server.port", 443);
    of_try.add("network.protocol.version", "1.1");
    of_try.add("edge.gateway", "shop/public");
    of_try.add("edge.listener", "https");
    of_try.add("edge.route", "shop/catalogue");
    of_try.add("edge.rule", 0);
    request = of_try.bytes();
  }
  std::string request;
  std::string attempt;
};

void tell(Tracer& tracer, const net::http1::HeadFields& fields, const Ready& ready) {
  const TracePointer trace = tracer.begin(fields, Tracer::Sender::kBelieved, 100);
  Attributes& request = trace->attributes();
  request.add("url.path", "/catalogue/shoes/42");
  request.add("server.address", "shop.example");
  request.add("client.address", "203.0.113.7");
  request.add("user_agent.original", "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0");
  request.add("edge.request_id", "01900000-0000-7000-8000-000000000001");
  char room[256];
  net::http1::HeadWriter head(room, sizeof room);
  trace->write(0, head);
  const Step step = trace->begin_try();
  Attributes& attempt = trace->step_attributes();
  attempt.add("server.address", "10.20.30.40");
  attempt.add("server.port", 8080);
  attempt.add("edge.attempt", 1);
  trace->end_step(step, SpanKind::kClient, "try", {}, ready.attempt);
  request.add("http.request.body.size", 0);
  request.add("http.response.body.size", 2326);
  trace->end("GET catalogue", {}, ready.request);
}

void measure_all() {
  const auto parsed = std::make_unique<net::http1::RequestHead>();
  net::http1::ParseHint hint;
  net::http1::parse_request(kHead, {}, hint, *parsed);
  Tracer untold(nullptr);
  bench::measure("ids and traceparent", kRequests, [&](int) {
    const TracePointer trace = untold.begin(parsed->fields, Tracer::Sender::kBelieved, 100);
    char room[256];
    net::http1::HeadWriter head(room, sizeof room);
    trace->write(0, head);
  });
  const auto buffers = std::make_shared<SpanBuffers>();
  SpanExporter exporter(buffers, std::make_unique<Nowhere>(), {});
  Tracer tracer(&buffers->add_thread());
  const Ready ready;
  const double before = bench::nanoseconds(CLOCK_PROCESS_CPUTIME_ID);
  int reported = 0;
  bench::measure("two spans, composed and left", kRequests, [&](int) {
    tell(tracer, parsed->fields, ready);
    if (++reported % 1000 == 0) std::this_thread::yield();
  });
  exporter.stop();
  const SpanCounts counts = exporter.counts();
  std::printf("%-36s %7.1f ns\n", "the same with the exporter",
              (bench::nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - before) / reported);
  std::printf("%llu spans, %llu dropped\n", static_cast<unsigned long long>(counts.recorded),
              static_cast<unsigned long long>(counts.full));
}

}  // namespace
}  // namespace edge::runtime::trace

int main() {
  edge::runtime::trace::measure_all();
  return 0;
}
