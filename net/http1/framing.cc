// Determines how a body ends (RFC 9112 §6.3); every form that two parsers could read differently is refused (§11.2).
#include "base/text/ascii.h"
#include "net/http1/char_tables.h"
#include "net/http1/parse.h"

namespace edge::net::http1 {

namespace {

/// Digits alone, no sign, list or blank (RFC 9110 §8.6), and no number over 2^63 - 1.
HeadFault read_length(const HeadFields& fields, std::uint64_t& out) {
  if (fields.repeated(KnownField::kContentLength)) return HeadFault::kRepeatedContentLength;
  const std::string_view text = fields.value(KnownField::kContentLength);
  if (text.empty() || text.size() > 19) return HeadFault::kBadContentLength;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return HeadFault::kBadContentLength;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  if (value > INT64_MAX) return HeadFault::kBadContentLength;
  out = value;
  return HeadFault::kNone;
}

/// `chunked` alone is known. Other codings before it are not implemented (RFC 9112 §6.1); anything else leaves the end
/// of the body open, or is malformed.
HeadFault read_coding(const HeadFields& fields) {
  if (fields.repeated(KnownField::kTransferEncoding)) return HeadFault::kBadTransferEncoding;
  std::string_view list = fields.value(KnownField::kTransferEncoding);
  if (equals_ignoring_case(list, "chunked")) return HeadFault::kNone;
  std::size_t codings = 0;
  for (;;) {
    const std::size_t comma = list.find(',');
    const std::string_view coding = trim_blanks(list.substr(0, comma));
    if (coding.empty() || !all_of_class(coding, kTokenChar)) return HeadFault::kBadTransferEncoding;
    const bool last = comma == std::string_view::npos;
    if (equals_ignoring_case(coding, "chunked") != last) return HeadFault::kBadTransferEncoding;
    ++codings;
    if (last) return codings > 1 ? HeadFault::kUnknownCoding : HeadFault::kBadTransferEncoding;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

HeadFault frame_request(const HeadFields& fields, std::uint8_t minor, Body& out) {
  out = {};
  const bool length = fields.has(KnownField::kContentLength);
  if (fields.has(KnownField::kTransferEncoding)) {
    if (length) return HeadFault::kLengthAndCoding;
    if (minor == 0) return HeadFault::kCodingInHttp10;
    out.kind = BodyKind::kChunked;
    return read_coding(fields);
  }
  if (!length) return HeadFault::kNone;
  out.kind = BodyKind::kLength;
  return read_length(fields, out.length);
}

HeadFault frame_response(const HeadFields& fields, std::uint8_t minor, std::uint16_t status, Method method, Body& out) {
  out = {};
  const bool coding = fields.has(KnownField::kTransferEncoding);
  const bool length = fields.has(KnownField::kContentLength);
  // Contradictions are refused whether or not a body follows: they would be forwarded.
  if (coding && length) return HeadFault::kLengthAndCoding;
  if (coding && minor == 0) return HeadFault::kCodingInHttp10;
  if (coding) {
    if (const HeadFault fault = read_coding(fields); fault != HeadFault::kNone) return fault;
  }
  std::uint64_t size = 0;
  if (length) {
    if (const HeadFault fault = read_length(fields, size); fault != HeadFault::kNone) return fault;
  }
  if (status < 200 || status == 204) return coding ? HeadFault::kUnexpectedFraming : HeadFault::kNone;
  if (method == Method::kHead || status == 304) return HeadFault::kNone;
  if (coding) {
    out.kind = BodyKind::kChunked;
  } else if (length) {
    out = {BodyKind::kLength, size};
  } else {
    out.kind = BodyKind::kUntilClose;
  }
  return HeadFault::kNone;
}

}  // namespace edge::net::http1
