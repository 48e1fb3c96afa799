// Writes message heads to a buffer of the caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace edge::net::http1 {

/// Appends; never allocates. When the buffer is full it stops, and `overflowed()` stays true: check once, at the end.
/// Names and values are written unchanged: they come from a parsed head or a checked program, never from raw input.
class HeadWriter {
 public:
  HeadWriter(char* buffer, std::size_t capacity) : begin_(buffer), at_(buffer), end_(buffer + capacity) {}

  /// Writes `GET /path?query HTTP/1.1`. Omits the query with its `?` when `has_query` is false.
  void request_line(std::string_view method, std::string_view path, bool has_query, std::string_view query);
  /// Writes `HTTP/1.1 200 OK`. An empty reason stays empty.
  void status_line(int status, std::string_view reason);

  void field(std::string_view name, std::string_view value) {
    char* p = room(name.size() + value.size() + 4);
    if (p == nullptr) return;
    p = put(p, name);
    *p++ = ':';
    *p++ = ' ';
    p = put(p, value);
    *p++ = '\r';
    *p++ = '\n';
  }
  void field(std::string_view name, std::uint64_t value);
  /// Writes `name: first, second`: appends to a list field.
  void field_appended(std::string_view name, std::string_view first, std::string_view second);
  /// Writes complete lines, each with its CRLF (HeadFields::lines).
  void lines(std::string_view lines) {
    if (char* p = room(lines.size())) put(p, lines);
  }
  /// Writes the empty line.
  void finish() { lines("\r\n"); }

  bool overflowed() const { return overflowed_; }
  std::size_t size() const { return static_cast<std::size_t>(at_ - begin_); }
  std::string_view text() const { return {begin_, size()}; }

 private:
  /// Reserves `size` bytes, null when they do not fit; after that nothing fits.
  char* room(std::size_t size) {
    if (size > static_cast<std::size_t>(end_ - at_)) {
      overflowed_ = true;
      end_ = at_;
      return nullptr;
    }
    char* p = at_;
    at_ += size;
    return p;
  }
  static char* put(char* p, std::string_view text) {
    // An empty view may be null, which memcpy does not take.
    if (!text.empty()) std::memcpy(p, text.data(), text.size());
    return p + text.size();
  }

  char* begin_;
  char* at_;
  char* end_;
  bool overflowed_ = false;
};

/// Returns the registered phrase of a status, such as "Not Found"; empty for an unknown one.
std::string_view status_phrase(int status);

}  // namespace edge::net::http1
