#include "runtime/shape/response_plan.h"

#include <algorithm>

#include "net/http1/chunked.h"
#include "runtime/shape/compressible.h"

namespace edge::runtime {
namespace {

using net::http1::BodyKind;
using net::http1::ChunkedDecoder;

/// No more of a body is waited for than this, however large minSize is.
constexpr std::uint64_t kMostAwaited = std::uint64_t{64} * 1024;

}  // namespace

ResponsePlan plan_response(const ResponseRules& rules, const net::http1::ResponseHead& head,
                           std::optional<std::uint64_t> length, EncoderPool& encoders) {
  ResponsePlan plan;
  if (head.status == 304) {
    // It stands for the response that was coded, and has that one's validator (RFC 9110 §15.4.5).
    plan.change.varies = true;
    plan.change.weak_validator = rules.coding.has_value();
    return plan;
  }
  if (!compressible(head, length, *rules.compression, *rules.compression_section)) return plan;
  plan.change.varies = true;
  if (!rules.coding) return plan;
  const bool has_body = head.body.kind != BodyKind::kNone;
  if (has_body) plan.encoder = encoders.take(*rules.coding, rules.compression->level);
  if (!has_body || plan.encoder != nullptr) {
    plan.change.coding = coding_token(*rules.coding);
    plan.change.weak_validator = true;
  }
  return plan;
}

bool size_undecided(const ResponseRules& rules, const net::http1::ResponseHead& head, std::string_view body,
                    std::optional<std::uint64_t>& length) {
  if (rules.compression == nullptr || !rules.coding) return false;
  if (head.body.kind != BodyKind::kChunked && head.body.kind != BodyKind::kUntilClose) return false;
  if (!compressible(head, std::nullopt, *rules.compression, *rules.compression_section)) return false;
  if (is_event_stream(head.fields)) return false;
  const std::uint64_t enough = std::min(rules.compression->min_size, kMostAwaited);
  if (head.body.kind == BodyKind::kUntilClose) return body.size() < enough;
  ChunkedDecoder probe;
  ChunkedDecoder::Step step;
  while (!body.empty() && step.state == ChunkedDecoder::State::kMore && probe.body_bytes() < enough) {
    step = probe.next(body);
    body.remove_prefix(step.consumed);
  }
  if (step.state == ChunkedDecoder::State::kEnd) length = probe.body_bytes();
  return step.state == ChunkedDecoder::State::kMore && probe.body_bytes() < enough;
}

}  // namespace edge::runtime
