// Any bytes as a query string of the trace store's API, and as the answer of a server that edgectl asks.
#include <cstdint>
#include <string_view>

#include "controller/traces/query_api.h"
#include "controller/traces/trace_server.h"
#include "edgectl/traces/answers.h"
#include "edgectl/traces/trace_tree.h"
#include "net/server/target.h"
#include "tests/fuzz/require.h"

using namespace edge;

namespace {

void show(const edgectl::Trace& trace) {
  require(trace.spans.size() <= edgectl::kMostSpans);
  const std::string page = edgectl::trace_page(trace, Colour::kNo);
  // Nothing of a stranger's moves a terminal's cursor.
  require(page.find('\x1b') == std::string::npos && page.find('\r') == std::string::npos);
  require(edgectl::summary_of(trace).duration_us >= 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto parameters = net::server::decode_query(bytes)) {
    const auto query = traces::parse_trace_query(*parameters, std::int64_t{1} << 50);
    if (query) require(query->limit >= 1 && query->limit <= 1500 && query->tags.size() <= 32);
  }
  (void)traces::parse_trace_listen(bytes.substr(0, 64));
  if (const auto found = edgectl::jaeger_traces(bytes)) {
    for (const edgectl::Trace& trace : *found) show(trace);
  }
  (void)edgectl::jaeger_names(bytes);
  (void)edgectl::jaeger_fault(bytes);
  (void)edgectl::tempo_names(bytes, "tagNames");
  (void)edgectl::tempo_summaries(bytes);
  for (const bool json : {false, true}) {
    if (const auto trace = edgectl::tempo_trace(bytes, json, "1")) show(*trace);
  }
  return 0;
}
