#include "base/path.h"

#include <array>
#include <cstddef>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>

#include "base/text/ascii.h"
#endif

namespace edge {
namespace {

enum ByteClass : std::uint8_t { kPlain = 0, kDot = 1, kPercent = 2, kRefused = 3 };

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (int c = 0; c < 256; ++c) {
    const bool refused = c <= 0x20 || c >= 0x7f || c == '\\' || c == '?' || c == '#';
    classes[c] = refused ? kRefused : c == '%' ? kPercent : c == '.' ? kDot : kPlain;
  }
  return classes;
}
constexpr auto kClasses = make_classes();

constexpr bool unreserved(int c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

/// Whether the bytes from `at` on may need work: an escape, a refused byte, or a segment that begins with a dot.
bool needs_work_scalar(std::string_view raw, std::size_t at) {
  for (; at < raw.size(); ++at) {
    const std::uint8_t kind = kClasses[static_cast<std::uint8_t>(raw[at])];
    if (kind == kPlain) continue;
    if (kind != kDot || raw[at - 1] == '/') return true;
  }
  return false;
}

#if defined(__SSE2__)
/// The same for the sixteen bytes at `p`; p[-1] is readable.
bool needs_work_block(const char* p) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  const __m128i before = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p - 1));
  const auto is = [&](char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); };
  // Signed: bytes from 0x80 on are negative, so one comparison finds them, the control bytes and the space.
  __m128i found = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x21));
  found = _mm_or_si128(found, _mm_or_si128(is('%'), is('\\')));
  found = _mm_or_si128(found, _mm_or_si128(is('?'), is('#')));
  found = _mm_or_si128(found, is(0x7f));
  found = _mm_or_si128(found, _mm_and_si128(is('.'), _mm_cmpeq_epi8(before, _mm_set1_epi8('/'))));
  return _mm_movemask_epi8(found) != 0;
}
#endif

/// Precondition: raw[0] == '/'.
bool needs_work(std::string_view raw) {
  std::size_t at = 1;
#if defined(__SSE2__)
  if (raw.size() > 16) {
    for (; at + 16 <= raw.size(); at += 16) {
      if (needs_work_block(raw.data() + at)) return true;
    }
    // The last block overlaps the one before it: no byte is left to a slow loop.
    return at < raw.size() && needs_work_block(raw.data() + raw.size() - 16);
  }
#endif
  return needs_work_scalar(raw, at);
}

/// Ends the segment buffer[segment, end): removes it when it is a dot segment, with the one before it for `..`.
/// `segment` follows a slash. Gives the new end, which follows a slash too when `closed`; nullopt above the root.
std::optional<std::size_t> close_segment(char* buffer, std::size_t segment, std::size_t end, bool closed) {
  const std::string_view text(buffer + segment, end - segment);
  if (text == ".") return segment;
  if (text == "..") {
    if (segment == 1) return std::nullopt;
    std::size_t parent = segment - 1;
    while (buffer[parent - 1] != '/') --parent;
    return parent;
  }
  if (closed) buffer[end++] = '/';
  return end;
}

}  // namespace

std::optional<std::string_view> normalise_path(std::string_view raw, char* buffer) {
  if (raw.empty() || raw[0] != '/') return std::nullopt;
  if (!needs_work(raw)) return raw;

  buffer[0] = '/';
  std::size_t end = 1;
  std::size_t segment = 1;
  for (std::size_t at = 1; at < raw.size(); ++at) {
    const char c = raw[at];
    if (c == '/') {
      const auto closed = close_segment(buffer, segment, end, true);
      if (!closed) return std::nullopt;
      end = segment = *closed;
      continue;
    }
    const std::uint8_t kind = kClasses[static_cast<std::uint8_t>(c)];
    if (kind == kRefused) return std::nullopt;
    if (kind != kPercent) {
      buffer[end++] = c;
      continue;
    }
    if (raw.size() - at < 3) return std::nullopt;
    const int high = hex_digit(raw[at + 1]);
    const int low = hex_digit(raw[at + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    const int byte = high * 16 + low;
    if (byte == 0) return std::nullopt;
    if (unreserved(byte)) {
      buffer[end++] = static_cast<char>(byte);
    } else {
      constexpr char kHex[] = "0123456789ABCDEF";
      buffer[end++] = '%';
      buffer[end++] = kHex[high];
      buffer[end++] = kHex[low];
    }
    at += 2;
  }
  const auto closed = close_segment(buffer, segment, end, false);
  if (!closed) return std::nullopt;
  return std::string_view(buffer, *closed);
}

std::optional<std::string_view> apply_path_rules(const PathRules& rules, std::string_view path, char* buffer) {
  constexpr std::string_view kSlash = "%2F";
  constexpr std::string_view kBackslash = "%5C";
  constexpr std::string_view kSemicolon = "%3B";
  const auto holds = [&](std::string_view text) { return path.find(text) != std::string_view::npos; };
  if (!path.starts_with('/')) return path;
  if (rules.reject_parameters && (holds(";") || holds(kSemicolon))) return std::nullopt;
  if (rules.escaped_slashes != EscapedSlashes::kKeep) {
    if (holds(kBackslash)) return std::nullopt;
    if (holds(kSlash)) {
      if (rules.escaped_slashes == EscapedSlashes::kReject) return std::nullopt;
      std::size_t end = 0;
      for (std::size_t at = 0; at < path.size(); ++end) {
        const bool slash = path.substr(at).starts_with(kSlash);
        buffer[end] = slash ? '/' : path[at];
        at += slash ? kSlash.size() : 1;
      }
      // What stood between encoded slashes may be a dot segment now. Reads each byte before it writes there.
      const auto normal = normalise_path({buffer, end}, buffer);
      if (!normal) return std::nullopt;
      path = *normal;
    }
  }
  if (rules.merge_slashes && holds("//")) {
    std::size_t end = 0;
    for (std::size_t at = 0; at < path.size(); ++at) {
      if (path[at] != '/' || end == 0 || buffer[end - 1] != '/') buffer[end++] = path[at];
    }
    path = {buffer, end};
  }
  return path;
}

}  // namespace edge
