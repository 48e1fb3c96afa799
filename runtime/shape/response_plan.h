// How a response's body goes to the client: as it is, or coded (rule D6). The same for one that comes from an upstream
// and for one that was held or stored.
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
  /// Null: the body is not coded, or there is none.
  EncoderPool::Lease encoder;
};

/// Precondition: the gateway compresses. `length` of the body as far as it is known.
ResponsePlan plan_response(const ResponseRules& rules, const net::http1::ResponseHead& head,
                           std::optional<std::uint64_t> length, EncoderPool& encoders);

/// Whether the answer waits for more of a body whose length is not told: it may be too small to be coded. `body` is
/// what is here of it; `length` becomes known when that is all.
bool size_undecided(const ResponseRules& rules, const net::http1::ResponseHead& head, std::string_view body,
                    std::optional<std::uint64_t>& length);

}  // namespace edge::runtime
