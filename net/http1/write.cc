#include "net/http1/write.h"

#include <charconv>

namespace edge::net::http1 {

void HeadWriter::request_line(std::string_view method, std::string_view path, bool has_query, std::string_view query) {
  constexpr std::string_view kVersion = " HTTP/1.1\r\n";
  const std::size_t query_size = has_query ? query.size() + 1 : 0;
  char* p = room(method.size() + 1 + path.size() + query_size + kVersion.size());
  if (p == nullptr) return;
  p = put(p, method);
  *p++ = ' ';
  p = put(p, path);
  if (has_query) {
    *p++ = '?';
    p = put(p, query);
  }
  put(p, kVersion);
}

void HeadWriter::status_line(int status, std::string_view reason) {
  char* p = room(9 + 3 + 1 + reason.size() + 2);
  if (p == nullptr) return;
  p = put(p, "HTTP/1.1 ");
  *p++ = static_cast<char>('0' + status / 100 % 10);
  *p++ = static_cast<char>('0' + status / 10 % 10);
  *p++ = static_cast<char>('0' + status % 10);
  *p++ = ' ';
  p = put(p, reason);
  put(p, "\r\n");
}

void HeadWriter::field(std::string_view name, std::uint64_t value) {
  char digits[20];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof(digits), value);
  field(name, {digits, static_cast<std::size_t>(end.ptr - digits)});
}

void HeadWriter::field_appended(std::string_view name, std::string_view first, std::string_view second) {
  char* p = room(name.size() + first.size() + second.size() + 6);
  if (p == nullptr) return;
  p = put(p, name);
  p = put(p, ": ");
  p = put(p, first);
  p = put(p, ", ");
  p = put(p, second);
  put(p, "\r\n");
}

std::string_view status_phrase(int status) {
  switch (status) {
#define EDGE_STATUS(code, phrase) \
  case code:                      \
    return phrase;
#include "net/http1/status.def"
#undef EDGE_STATUS
    default:
      return {};
  }
}

}  // namespace edge::net::http1
