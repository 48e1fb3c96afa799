// The grammar of a head (RFC 9112 §2 to §5), over the scan functions of one instruction set. Templates only: a source
// file instantiates them under the target attributes of its Scan, so that nothing here may be a plain inline function.
#pragma once

#include "base/text/ascii.h"
#include "net/http1/field_sink.h"
#include "net/http1/parsers.h"
#include "net/http1/scan.h"

namespace edge::net::http1 {

template <typename Scan>
struct HeadParser {
  static constexpr std::uint64_t kHttp11 = 0x312e312f50545448;  // "HTTP/1.1", little-endian
  static constexpr std::uint64_t kHttp10 = 0x302e312f50545448;
  static constexpr std::ptrdiff_t kVersionSize = 8;

  const char* begin;
  const char* at;
  const char* end;
  const HeadLimits& limits;
  bool truncated;  ///< the input exceeds the size limit of a head
  ParseResult result{};

  HeadParser(std::string_view bytes, const HeadLimits& head_limits)
      : begin(bytes.data()),
        at(bytes.data()),
        end(bytes.data() + (bytes.size() < head_limits.max_bytes ? bytes.size() : head_limits.max_bytes)),
        limits(head_limits),
        truncated(bytes.size() >= head_limits.max_bytes) {}

  static ParseResult request(std::string_view bytes, const HeadLimits& limits, RequestHead& out) {
    HeadParser parser(bytes, limits);
    std::size_t path_size = 0;
    if (!parser.request_line(out, path_size)) {
      out.method_text = out.target = {};
      return parser.result;
    }
    if (!parser.field_lines(out.fields)) return parser.result;
    return parser.complete(interpret_request(out, path_size));
  }

  static ParseResult response(std::string_view bytes, Method method, const HeadLimits& limits, ResponseHead& out) {
    HeadParser parser(bytes, limits);
    if (!parser.status_line(out) || !parser.field_lines(out.fields)) return parser.result;
    return parser.complete(interpret_response(out, method));
  }

 private:
  ParseResult complete(HeadFault found) {
    if (found != HeadFault::kNone) {
      fault(found);
    } else {
      result = {ParseState::kComplete, HeadFault::kNone, static_cast<std::size_t>(at - begin)};
    }
    return result;
  }

  bool fault(HeadFault found) {
    result = {ParseState::kFault, found, 0};
    return false;
  }

  /// Returns incomplete: the input ended before the head. A fault when the limit is reached.
  bool torn(HeadFault too_large = HeadFault::kHeadTooLarge) {
    if (truncated) return fault(too_large);
    result = {ParseState::kIncomplete, HeadFault::kNone, 0};
    return false;
  }

  /// RFC 9112 §3. One empty line before it is skipped (§2.2).
  bool request_line(RequestHead& out, std::size_t& path_size) {
    if (at < end && *at == '\r') {
      if (end - at < 2) return torn();
      if (at[1] != '\n') return fault(HeadFault::kBadLineEnd);
      at += 2;
    }
    const char* method_end = Scan::token_end(at, end);
    if (method_end - at > static_cast<std::ptrdiff_t>(kMaxMethodBytes)) return fault(HeadFault::kMethodNotImplemented);
    if (method_end == end) return torn();
    if (method_end == at || *method_end != ' ') return fault(HeadFault::kBadRequestLine);
    out.method_text = {at, static_cast<std::size_t>(method_end - at)};
    at = method_end + 1;
    return request_target(out, path_size) && request_version(out);
  }

  bool request_target(RequestHead& out, std::size_t& path_size) {
    const char* target = at;
    const char* path_end = Scan::target_end(target, end);
    const char* target_end = path_end;
    // A query may hold further `?`.
    while (target_end < end && *target_end == '?') target_end = Scan::target_end(target_end + 1, end);
    if (target_end - target > static_cast<std::ptrdiff_t>(limits.max_target)) return fault(HeadFault::kUriTooLong);
    if (target_end == end) return torn(HeadFault::kUriTooLong);
    if (*target_end != ' ') {
      return fault(*target_end == '\r' || *target_end == '\n' ? HeadFault::kBadRequestLine : HeadFault::kBadTarget);
    }
    if (target_end == target) return fault(HeadFault::kBadRequestLine);
    path_size = static_cast<std::size_t>(path_end - target);
    out.target = {target, static_cast<std::size_t>(target_end - target)};
    out.has_query = path_end != target_end;
    out.query = out.has_query ? out.target.substr(path_size + 1) : std::string_view{};
    at = target_end + 1;
    return true;
  }

  bool request_version(RequestHead& out) {
    if (end - at < kVersionSize + 2) {
      for (const char* p = at; p < end; ++p) {
        if (*p == '\n') return fault(HeadFault::kBadRequestLine);
      }
      return torn();
    }
    if (!version(out.minor, HeadFault::kBadRequestLine)) return false;
    if (at[0] == '\n') return fault(HeadFault::kBadLineEnd);
    if (at[0] != '\r') return fault(HeadFault::kBadRequestLine);
    if (at[1] != '\n') return fault(HeadFault::kBadLineEnd);
    at += 2;
    return true;
  }

  /// Parses the version, RFC 9112 §2.3: case-sensitive, one digit on each side. Precondition: kVersionSize bytes.
  bool version(std::uint8_t& minor, HeadFault malformed) {
    std::uint64_t word;
    __builtin_memcpy(&word, at, sizeof(word));
    if (word == kHttp11) {
      minor = 1;
    } else if (word == kHttp10) {
      minor = 0;
    } else {
      const bool other = __builtin_memcmp(at, "HTTP/", 5) == 0 && is_digit(at[5]) && at[6] == '.' && is_digit(at[7]);
      return fault(other ? HeadFault::kBadVersion : malformed);
    }
    at += kVersionSize;
    return true;
  }

  static bool is_digit(char c) { return static_cast<unsigned char>(c - '0') <= 9; }

  /// Parses the status line, RFC 9112 §4. The space before an empty reason may be missing: the grammar requires it,
  /// many servers omit it, and it causes no ambiguity.
  bool status_line(ResponseHead& out) {
    if (end - at < kVersionSize + 6) {
      for (const char* p = at; p < end; ++p) {
        if (*p == '\n') return fault(HeadFault::kBadStatusLine);
      }
      return torn();
    }
    if (!version(out.minor, HeadFault::kBadStatusLine)) return false;
    if (at[0] != ' ' || !is_digit(at[1]) || !is_digit(at[2]) || !is_digit(at[3])) {
      return fault(HeadFault::kBadStatusLine);
    }
    out.status = static_cast<std::uint16_t>((at[1] - '0') * 100 + (at[2] - '0') * 10 + (at[3] - '0'));
    if (out.status < 100 || out.status > 599) return fault(HeadFault::kBadStatusLine);
    at += 4;
    if (*at != ' ' && *at != '\r') return fault(HeadFault::kBadStatusLine);
    if (*at == ' ') ++at;
    const char* reason_end = Scan::value_end(at, end);
    if (!line_end(reason_end, HeadFault::kBadStatusLine)) return false;
    out.reason = {at, static_cast<std::size_t>(reason_end - at)};
    at = reason_end + 2;
    return true;
  }

  /// Checks that CRLF follows the value that ended at `p`.
  bool line_end(const char* p, HeadFault control) {
    if (p == end) return torn();
    if (*p != '\r') return fault(*p == '\n' ? HeadFault::kBadLineEnd : control);
    if (p + 1 == end) return torn();
    if (p[1] != '\n') return fault(HeadFault::kBadLineEnd);
    return true;
  }

  /// Parses the fields, RFC 9112 §5, up to and including the empty line.
  bool field_lines(HeadFields& fields) {
    FieldSink sink{fields};
    sink.clear();
    const std::size_t max_fields = limits.max_fields < HeadFields::kMax ? limits.max_fields : HeadFields::kMax;
    // Locals: the loop's state stays in registers.
    const char* const stop = end;
    const char* line = at;
    for (std::size_t count = 0;; ++count) {
      at = line;
      if (line == stop) return torn();
      if (*line == '\r') break;
      const char* name_end = Scan::token_end(line, stop);
      if (name_end == stop) return torn();
      if (*name_end != ':' || name_end == line) return fault(name_fault());
      if (count == max_fields) return fault(HeadFault::kTooManyFields);
      const char* value = name_end + 1;
      // Nearly always one space and then no other.
      if (stop - value >= 2 && value[0] == ' ' && static_cast<unsigned char>(value[1]) > ' ') {
        ++value;
      } else {
        while (value < stop && is_blank(*value)) ++value;
      }
      const char* value_stop = Scan::value_end(value, stop);
      if (stop - value_stop < 2 || value_stop[0] != '\r' || value_stop[1] != '\n') {
        return line_end(value_stop, HeadFault::kBadFieldValue);
      }
      const char* value_end = value_stop;
      // At least the colon stands before it.
      while (is_blank(value_end[-1]) && value_end > value) --value_end;
      sink.add({line, static_cast<std::size_t>(name_end - line)}, {value, static_cast<std::size_t>(value_end - value)});
      line = value_stop + 2;
    }
    if (end - at < 2) return torn();
    if (at[1] != '\n') return fault(HeadFault::kBadLineEnd);
    sink.close(at);
    at += 2;
    return true;
  }

  /// Returns why the line at `at` has no valid name.
  HeadFault name_fault() const {
    if (is_blank(*at)) return HeadFault::kFoldedLine;
    return *at == '\n' ? HeadFault::kBadLineEnd : HeadFault::kBadFieldName;
  }
};

}  // namespace edge::net::http1
