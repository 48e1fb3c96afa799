// Any bytes as a request head: all instruction sets agree, tearing changes nothing, and what is accepted means the same
// when it is written again and parsed again.
#include <cstdint>
#include <memory>
#include <string>

#include "net/http1/parsers.h"
#include "net/http1/write.h"
#include "tests/fuzz/require.h"

namespace {

using namespace edge::net::http1;

bool same(const RequestHead& a, const RequestHead& b) {
  if (a.method_text != b.method_text || a.path != b.path || a.query != b.query || a.has_query != b.has_query ||
      a.host != b.host || a.keep_alive != b.keep_alive || a.body.kind != b.body.kind ||
      a.body.length != b.body.length || a.fields.size() != b.fields.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.fields.size(); ++i) {
    if (a.fields[i].name != b.fields[i].name || a.fields[i].value != b.fields[i].value) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Of the exact size, so that a read past its end is found.
  const auto bytes = std::make_unique<char[]>(size);
  std::copy(data, data + size, bytes.get());
  const std::string_view text(bytes.get(), size);
  const auto head = std::make_unique<RequestHead>();
  const auto again = std::make_unique<RequestHead>();
  const HeadLimits limits;

  ParseHint hint;
  const ParseResult result = parse_request(text, limits, hint, *head);
  const ParseResult scalar = scalar_parsers().request(text, limits, *again);
  require(result.state == scalar.state && result.fault == scalar.fault && result.consumed == scalar.consumed);
  if (result.state != ParseState::kComplete) return 0;
  require(result.consumed <= size && same(*head, *again));

  // No shorter prefix is complete, or at fault.
  ParseHint torn;
  for (std::size_t prefix = 0; prefix < result.consumed; prefix += 1 + result.consumed / 16) {
    require(parse_request(text.substr(0, prefix), limits, torn, *again).state == ParseState::kIncomplete);
  }

  std::string buffer(2 * size + 64, '\0');
  HeadWriter writer(buffer.data(), buffer.size());
  writer.request_line(head->method_text, head->target, false, {});
  for (const edge::Field& field : head->fields.all()) writer.field(field.name, field.value);
  writer.finish();
  require(!writer.overflowed());
  if (head->minor == 0) return 0;  // written as HTTP/1.1, which asks for more
  ParseHint fresh;
  HeadLimits wide;
  wide.max_bytes = buffer.size();
  require(parse_request(writer.text(), wide, fresh, *again).state == ParseState::kComplete && same(*head, *again));
  return 0;
}
