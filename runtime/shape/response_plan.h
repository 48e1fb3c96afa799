// How a response body is sent to the client: unchanged or encoded (rule D6), whether it comes from an upstream, a
// buffer or the cache.
#pragma once

#include <cstdint>
#include <optional>

#include "net/http1/head.h"
#include "runtime/shape/compress.h"
#include "runtime/shape/heads.h"
#include "runtime/shape/response_rules.h"

namespace edge::runtime {

struct ResponsePlan {
  BodyChange change;
  /// Null: the body is not encoded, or there is none.
  EncoderPool::Lease encoder;
};

/// Plans the body. Precondition: the gateway compresses. `length` of the body if known.
ResponsePlan plan_response(const ResponseRules& rules, const net::http1::ResponseHead& head,
                           std::optional<std::uint64_t> length, EncoderPool& encoders);

/// Returns whether to wait for more of a body of unknown length, because it may be too small to be compressed. `body`
/// is what has arrived; sets `length` when that is all.
bool size_undecided(const ResponseRules& rules, const net::http1::ResponseHead& head, std::string_view body,
                    std::optional<std::uint64_t>& length);

}  // namespace edge::runtime
