// Any fields of a head as trace context: read in bounds, and what is told of it is read as the same again.
#include <cstdint>
#include <memory>
#include <string>

#include "net/http1/parse.h"
#include "runtime/observe/trace/trace_context.h"
#include "tests/fuzz/require.h"

using namespace edge;
using runtime::trace::TraceContext;

namespace {

std::unique_ptr<net::http1::RequestHead> parse(const std::string& text) {
  auto head = std::make_unique<net::http1::RequestHead>();
  net::http1::ParseHint hint;
  const auto parsed = net::http1::parse_request(text, {}, hint, *head);
  if (parsed.state != net::http1::ParseState::kComplete) head.reset();
  return head;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string begin = "GET / HTTP/1.1\r\nHost: a\r\n";
  const std::string text = begin + std::string(reinterpret_cast<const char*>(data), size) + "\r\n\r\n";
  const auto head = parse(text);
  if (head == nullptr) return 0;
  TraceContext context = runtime::trace::read_trace_context(head->fields);
  require(context.state.size() <= 512);
  require(context.trace.none() == (context.parent == 0));
  require(!context.short_id || context.trace.high == 0);
  const bool begins = context.trace.none();
  if (begins) context.trace = {1, 2};

  char room[2048];
  net::http1::HeadWriter out(room, sizeof room);
  const bool sampled = context.sampled.value_or(true);
  runtime::trace::write_trace_context({context, 3, 4, sampled}, out);
  require(!out.overflowed());
  const std::string reported = begin + std::string(out.text()) + "\r\n";
  const auto sent = parse(reported);
  require(sent != nullptr);
  const TraceContext again = runtime::trace::read_trace_context(sent->fields);
  require(again.trace == context.trace && again.parent == 4 && again.sampled == sampled);
  require(again.b3_single == context.b3_single && again.b3_multi == context.b3_multi);
  require(again.state == context.state);
  for (const Field& field : sent->fields.all()) {
    require(field.name == "Host" || runtime::trace::tells_of_trace(field.name));
  }
  return 0;
}
