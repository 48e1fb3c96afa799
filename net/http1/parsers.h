// The parser for each instruction set; parse.cc selects one. Tests compare them with each other.
#pragma once

#include "net/http1/parse.h"

namespace edge::net::http1 {

struct Parsers {
  ParseResult (*request)(std::string_view bytes, const HeadLimits& limits, RequestHead& out);
  ParseResult (*response)(std::string_view bytes, Method method, const HeadLimits& limits, ResponseHead& out);
  /// The minimum number of input bytes; shorter input goes to the scalar parser.
  std::size_t width;
};

const Parsers& scalar_parsers();
#if defined(__x86_64__)
const Parsers& sse2_parsers();
/// Only where the CPU has AVX2.
const Parsers& avx2_parsers();
#endif

/// Returns the best one for this CPU.
const Parsers& best_parsers();

/// Checks and interprets a syntactically valid head: target, host, framing, connection. kNone when it is valid.
HeadFault interpret_request(RequestHead& head, std::size_t path_size);
HeadFault interpret_response(ResponseHead& head, Method method);

/// Longer method names are answered 501 (RFC 9110 §15.6.2).
inline constexpr std::size_t kMaxMethodBytes = 64;

}  // namespace edge::net::http1
