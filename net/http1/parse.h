// Bytes to heads: the strict parser. It refuses all that RFC 9112 calls malformed or ambiguous, so that what is
// forwarded has one meaning only.
//
// Stricter than the RFC requires, on purpose: a line ends in CRLF, never in LF alone (§2.2 allows to take it); a
// doubled Content-Length is refused though equal (§6.3); the only transfer coding is `chunked`; a field value holds no
// control byte but HTAB. One empty line before a request line is skipped (§2.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/http1/head.h"

namespace edge::net::http1 {

struct HeadLimits {
  /// The whole head, from the first byte to the empty line's end.
  std::size_t max_bytes = 64 * 1024;
  /// At most HeadFields::kMax.
  std::size_t max_fields = 100;
  /// The request target.
  std::size_t max_target = 16 * 1024;
};

enum class HeadFault : std::uint8_t {
#define EDGE_HEAD_FAULT(name, status, reason, text) name,
#include "net/http1/head_faults.def"
#undef EDGE_HEAD_FAULT
};

/// The status to answer a request with that has this fault: 400, 414, 417, 431, 501 or 505. For a response's fault the
/// proxy answers 502 whatever this says.
int fault_status(HeadFault fault);
/// Short word for X-Edge-Reason and the log, e.g. `length-and-coding`.
std::string_view fault_reason(HeadFault fault);
/// One sentence for the answer's body.
std::string_view fault_text(HeadFault fault);

enum class ParseState : std::uint8_t { kComplete, kIncomplete, kFault };

struct ParseResult {
  ParseState state = ParseState::kIncomplete;
  HeadFault fault = HeadFault::kNone;
  /// kComplete: the head's size; the body begins there.
  std::size_t consumed = 0;
};

/// What an incomplete parse learned, so that a head that comes byte by byte costs time linear in its size. Zero it for
/// each new head, hand it back with the same bytes and more.
struct ParseHint {
  std::uint32_t searched = 0;
  std::uint32_t parsed = 0;
};

/// Parses a request head at the start of `bytes`; never reads past them. `out` is valid when the state is kComplete,
/// until the bytes change. A fault may be found before the head is complete; a torn head's fault may wait until more
/// has come.
ParseResult parse_request(std::string_view bytes, const HeadLimits& limits, ParseHint& hint, RequestHead& out);

/// The same for a response to a request of `method`, which decides about the body (§6.3). 1xx heads are heads of their
/// own: the caller parses on. max_target is not used.
ParseResult parse_response(std::string_view bytes, Method method, const HeadLimits& limits, ParseHint& hint,
                           ResponseHead& out);

/// RFC 9112 §6.3 for requests: the one decision how a request's body ends. kNone when there is no fault.
HeadFault frame_request(const HeadFields& fields, std::uint8_t minor, Body& out);
/// RFC 9112 §6.3 for responses. Framing that a status forbids (1xx, 204 with a coding) is a fault.
HeadFault frame_response(const HeadFields& fields, std::uint8_t minor, std::uint16_t status, Method method, Body& out);

}  // namespace edge::net::http1
