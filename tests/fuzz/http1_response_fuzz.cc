// Any bytes as a response head to a GET and to a HEAD: the instruction sets agree, and the body ends in one way.
#include <cstdint>
#include <memory>

#include "net/http1/parsers.h"
#include "tests/fuzz/require.h"

using namespace edge::net::http1;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::make_unique<char[]>(size);
  std::copy(data, data + size, bytes.get());
  const std::string_view text(bytes.get(), size);
  const auto head = std::make_unique<ResponseHead>();
  const auto again = std::make_unique<ResponseHead>();
  for (const Method method : {Method::kGet, Method::kHead}) {
    ParseHint hint;
    const ParseResult result = parse_response(text, method, {}, hint, *head);
    const ParseResult scalar = scalar_parsers().response(text, method, {}, *again);
    require(result.state == scalar.state && result.fault == scalar.fault && result.consumed == scalar.consumed);
    if (result.state != ParseState::kComplete) continue;
    require(result.consumed <= size && head->status >= 100 && head->status <= 599);
    const bool bodiless = method == Method::kHead || head->status < 200 || head->status == 204 || head->status == 304;
    require(!bodiless || head->body.kind == BodyKind::kNone);
    require(head->body.kind != BodyKind::kUntilClose || !head->keep_alive);
    require(!head->fields.has(KnownField::kTransferEncoding) || !head->fields.has(KnownField::kContentLength));
  }
  return 0;
}
