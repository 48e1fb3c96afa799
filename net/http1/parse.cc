#include "net/http1/parse.h"

#include <algorithm>

#include "net/http1/parsers.h"

namespace edge::net::http1 {

namespace {

const Parsers& pick_parsers() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") ? avx2_parsers() : sse2_parsers();
#else
  return scalar_parsers();
#endif
}

const Parsers& parsers_for(std::size_t size) {
  const Parsers& best = best_parsers();
  return size >= best.width ? best : scalar_parsers();
}

/// Whether a head that was torn may be complete now. A head ends in an empty line; and a parse each time that it has
/// doubled finds faults and limits early, at a cost that stays linear.
bool worth_parsing(std::string_view bytes, std::size_t max_bytes, ParseHint& hint) {
  if (bytes.size() >= max_bytes || bytes.size() >= std::size_t{2} * hint.parsed) return true;
  // The empty line may have been torn after its CR: two bytes back.
  std::size_t at = hint.searched > 2 ? hint.searched - 2 : 0;
  for (at = bytes.find('\n', at); at != std::string_view::npos && ++at < bytes.size(); at = bytes.find('\n', at)) {
    if (bytes[at] == '\r' || bytes[at] == '\n') return true;
  }
  hint.searched = static_cast<std::uint32_t>(bytes.size());
  return false;
}

void learn(const ParseResult& result, std::size_t size, ParseHint& hint) {
  if (result.state != ParseState::kIncomplete) return;
  hint.parsed = hint.searched = static_cast<std::uint32_t>(size);
}

}  // namespace

const Parsers& best_parsers() {
  static const Parsers& best = pick_parsers();
  return best;
}

ParseResult parse_request(std::string_view bytes, const HeadLimits& limits, ParseHint& hint, RequestHead& out) {
  if (hint.parsed != 0 && !worth_parsing(bytes, limits.max_bytes, hint)) return {};
  const ParseResult result = parsers_for(std::min(bytes.size(), limits.max_bytes)).request(bytes, limits, out);
  learn(result, bytes.size(), hint);
  return result;
}

ParseResult parse_response(std::string_view bytes, Method method, const HeadLimits& limits, ParseHint& hint,
                           ResponseHead& out) {
  if (hint.parsed != 0 && !worth_parsing(bytes, limits.max_bytes, hint)) return {};
  const ParseResult result = parsers_for(std::min(bytes.size(), limits.max_bytes)).response(bytes, method, limits, out);
  learn(result, bytes.size(), hint);
  return result;
}

int fault_status(HeadFault fault) {
  switch (fault) {
#define EDGE_HEAD_FAULT(name, status, reason, text) \
  case HeadFault::name:                             \
    return status;
#include "net/http1/head_faults.def"
#undef EDGE_HEAD_FAULT
  }
  return 400;
}

std::string_view fault_reason(HeadFault fault) {
  switch (fault) {
#define EDGE_HEAD_FAULT(name, status, reason, text) \
  case HeadFault::name:                             \
    return reason;
#include "net/http1/head_faults.def"
#undef EDGE_HEAD_FAULT
  }
  return {};
}

std::string_view fault_text(HeadFault fault) {
  switch (fault) {
#define EDGE_HEAD_FAULT(name, status, reason, text) \
  case HeadFault::name:                             \
    return text;
#include "net/http1/head_faults.def"
#undef EDGE_HEAD_FAULT
  }
  return {};
}

}  // namespace edge::net::http1
