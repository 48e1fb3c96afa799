// Any fields as a request of HTTP/2: what becomes text is one head, of which no byte starts another, and it says of the
// body what the stream says.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/http1/parse.h"
#include "net/http2/request_text.h"
#include "tests/fuzz/require.h"

namespace {

using namespace edge::net;

/// What stands up to the next byte 0xff.
std::string_view next(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\xff'), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

}  // namespace

// A byte of flags, then names and values with 0xff between them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool end_of_stream = (data[0] & 1) != 0;
  http1::HeadLimits limits;
  limits.max_bytes = (data[0] & 2) != 0 ? 256 : 16 * 1024;
  http2::RequestText composer(limits.max_bytes, 7);
  Buffer out;
  composer.begin(out);
  using Fault = http2::RequestText::Fault;
  if ((data[0] & 4) == 0) {
    for (const auto& [name, value] :
         {std::pair{":method", "POST"}, {":scheme", "https"}, {":authority", "a.example"}, {":path", "/p"}}) {
      require(composer.add(name, value) == Fault::kNone);
    }
  }
  while (!rest.empty()) {
    const std::string_view name = next(rest);
    if (composer.add(name, next(rest)) != Fault::kNone) return 0;
  }
  if (composer.finish(end_of_stream) != Fault::kNone) return 0;
  require(out.size() <= 8 * limits.max_bytes + 64 * 1024);

  const auto head = std::make_unique<http1::RequestHead>();
  http1::ParseHint hint;
  const http1::ParseResult parsed = http1::parse_request(out.view(), limits, hint, *head);
  // Never a head that waits for more: the session would.
  require(parsed.state != http1::ParseState::kIncomplete);
  if (parsed.state == http1::ParseState::kFault) return 0;
  require(parsed.consumed == out.size());
  require(head->form != http1::TargetForm::kAbsolute);
  switch (composer.body()) {
    case http2::BodyForm::kNone:
      require(head->body.kind == http1::BodyKind::kNone ||
              (head->body.kind == http1::BodyKind::kLength && head->body.length == 0));
      break;
    case http2::BodyForm::kLength:
      require(head->body.kind == http1::BodyKind::kLength);
      break;
    case http2::BodyForm::kChunked:
      require(head->body.kind == http1::BodyKind::kChunked);
      break;
    case http2::BodyForm::kRaw:
      require(head->body.kind == http1::BodyKind::kNone && head->upgrade);
      break;
  }
  return 0;
}
