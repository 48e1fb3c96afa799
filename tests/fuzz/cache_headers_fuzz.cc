// Any two heads, a request's and a response's, through everything that the cache does with heads. Whatever is stored
// can be answered from, with a head that our own parser takes and a part that lies within the body; and what is stored
// is allowed to be.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "net/http1/parse.h"
#include "runtime/shape/cache/answer.h"
#include "runtime/shape/cache/entry.h"
#include "tests/fuzz/require.h"

namespace {

using namespace edge::runtime::cache;
namespace http1 = edge::net::http1;

constexpr Seconds kNow = 784111777;
constexpr std::string_view kText = "0123456789";

void check_answer(const Entry& entry, const http1::RequestHead& head, const Request& request, Seconds now) {
  static char buffer[1 << 20];
  http1::HeadWriter out(buffer, sizeof buffer);
  const AnswerBody body = write_answer(entry, request, now, out);
  require(!out.overflowed());
  for (const AnswerBody::Part& part : body.parts()) require(part.first + part.size <= entry.body->size());
  static http1::ResponseHead parsed;
  http1::ParseHint hint;
  http1::HeadLimits limits;
  limits.max_fields = http1::HeadFields::kMax;
  limits.max_bytes = sizeof buffer;
  const auto result = parse_response(out.text(), head.method, limits, hint, parsed);
  if (result.state != http1::ParseState::kComplete) return;
  require(result.consumed == out.size());
  if (parsed.body.kind == http1::BodyKind::kLength) require(parsed.body.length == body.size());
}

}  // namespace

// The first empty line ends the request; what follows is the response.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  static http1::RequestHead request_head;
  static http1::ResponseHead response_head;
  http1::ParseHint hint;
  const auto request_end = parse_request(input, {}, hint, request_head);
  if (request_end.state != http1::ParseState::kComplete) return 0;
  hint = {};
  const auto response_end =
      parse_response(input.substr(request_end.consumed), request_head.method, {}, hint, response_head);
  if (response_end.state != http1::ParseState::kComplete) return 0;

  const Request request = read_request(request_head.method, request_head.fields);
  const Response response = read_response(response_head.status, response_head.fields, kNow);
  const Target target{"http", "example.com", "/dir/page", request_head.query, request_head.has_query};
  const Key key = make_key(target, {"shop", "web", 0, 7, request_head.host, request_head.path});
  (void)same_origin_target(target, response_head.fields.value(http1::KnownField::kLocation));
  require(!response.has_vary || !response.vary_any || !storable(request, response, {}, {kNow, kNow}));

  const CacheRequest cache_request{key, request, {}, {kNow - 1, kNow}};
  const auto entry = make_entry(cache_request, response_head, "Sun, 06 Nov 1994 08:49:37 GMT");
  if (entry == nullptr) return 0;
  require(request_head.method == http1::Method::kGet && !request.directives.no_store);
  require(entry->freshness.lifetime >= 0 && entry->freshness.initial_age >= 1);
  // Who asks the same is answered by it, and later it is no younger.
  require(selects(entry->selection, request_head.fields));
  require(entry->freshness.age(kNow + 10) == entry->freshness.age(kNow) + 10);
  auto body = std::make_shared<Body>();
  body->append(kText);
  body->close();
  entry->body = body;
  (void)choose_use(entry->freshness, request, kNow + 30);
  (void)usable_on_error(entry->freshness, request, kNow + 30);
  check_answer(*entry, request_head, request, kNow + 30);
  if (speaks_of(response, response_head, *entry)) {
    const auto renewed = renew_entry(*entry, cache_request, response_head, "Sun, 06 Nov 1994 08:49:37 GMT").entry;
    if (renewed != nullptr) check_answer(*renewed, request_head, request, kNow + 30);
  }
  return 0;
}
