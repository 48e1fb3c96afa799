// The strict head parser. It rejects everything that RFC 9112 calls malformed or ambiguous, so that forwarded messages
// have only one meaning.
//
// Stricter than the RFC requires, on purpose: a line ends in CRLF, never in LF alone (§2.2 allows to accept it);
// duplicate Content-Length is rejected even if equal (§6.3); the only transfer coding is `chunked`; a field value
// contains no control byte but HTAB. One empty line before a request line is skipped (§2.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "net/http1/head.h"

namespace edge::net::http1 {

struct HeadLimits {
  /// The complete head, from the first byte to the end of the empty line.
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

/// Returns the status for a request with this fault: 400, 414, 417, 431, 501 or 505. For a response's fault the proxy
/// answers 502 in any case.
int fault_status(HeadFault fault);
/// Returns a short word for X-Edge-Reason and the log, such as `length-and-coding`.
std::string_view fault_reason(HeadFault fault);
/// Returns one sentence for the answer's body.
std::string_view fault_text(HeadFault fault);

enum class ParseState : std::uint8_t { kComplete, kIncomplete, kFault };

struct ParseResult {
  ParseState state = ParseState::kIncomplete;
  HeadFault fault = HeadFault::kNone;
  /// kComplete: the head's size; the body begins there.
  std::size_t consumed = 0;
};

/// State of an incomplete parse, so that a head that arrives byte by byte costs time linear in its size. Zero it for
/// each new head, pass it again with the same bytes and more.
struct ParseHint {
  std::uint32_t searched = 0;
  std::uint32_t parsed = 0;
};

/// Parses a request head at the start of `bytes`; never reads beyond them. `out` is valid when the state is kComplete,
/// until the bytes change. A fault may be reported before the head is complete, or only after more input.
ParseResult parse_request(std::string_view bytes, const HeadLimits& limits, ParseHint& hint, RequestHead& out);

/// The same for a response to a request of `method`, which affects the body (§6.3). 1xx heads are returned separately:
/// the caller continues parsing. max_target is not used.
ParseResult parse_response(std::string_view bytes, Method method, const HeadLimits& limits, ParseHint& hint,
                           ResponseHead& out);

/// Determines how a request's body ends (RFC 9112 §6.3). kNone when there is no fault.
HeadFault frame_request(const HeadFields& fields, std::uint8_t minor, Body& out);
/// Determines how a response's body ends (RFC 9112 §6.3). Framing that a status forbids (1xx, 204 with a coding) is a
/// fault.
HeadFault frame_response(const HeadFields& fields, std::uint8_t minor, std::uint16_t status, Method method, Body& out);

}  // namespace edge::net::http1
