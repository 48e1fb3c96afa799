#include "runtime/observe/trace/span_text.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace edge::runtime::trace {
namespace {

// Tags: the number of a field times eight, plus how its value is written (0: varint, 1: eight bytes, 2: a size and so
// many bytes).
constexpr char tag(unsigned field, unsigned wire) { return static_cast<char>(field << 3 | wire); }

constexpr char kSpans = tag(2, 2);  // of ScopeSpans
constexpr char kTraceId = tag(1, 2);
constexpr char kSpanId = tag(2, 2);
constexpr char kParentId = tag(4, 2);
constexpr char kName = tag(5, 2);
constexpr char kKind = tag(6, 0);
constexpr char kBegin = tag(7, 1);
constexpr char kEnd = tag(8, 1);
constexpr char kAttributes = tag(9, 2);
constexpr char kStatus = tag(15, 2);
constexpr char kStatusMessage = tag(2, 2);
constexpr char kStatusCode = tag(3, 0);
constexpr char kStatusError = 2;
constexpr char kString = tag(1, 2);  // of AnyValue
constexpr char kInt = tag(3, 0);

constexpr std::size_t kTraceIdBytes = 16;
constexpr std::size_t kSpanIdBytes = 8;

constexpr std::size_t varint_size(std::uint64_t value) {
  std::size_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

/// Of a field with a size: tag, size, bytes.
constexpr std::size_t field_size(std::size_t bytes) { return 1 + varint_size(bytes) + bytes; }

/// Writes to a buffer whose size was computed before.
class Pen {
 public:
  explicit Pen(char* at) : at_(at) {}
  char* at() const { return at_; }
  void byte(char value) { *at_++ = value; }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) byte(static_cast<char>(value | 0x80));
    byte(static_cast<char>(value));
  }
  void bytes(std::string_view value) {
    if (!value.empty()) std::memcpy(at_, value.data(), value.size());
    at_ += value.size();
  }
  /// The first `size` of them: the room behind is written over.
  template <std::size_t kSize>
  void begin(const std::array<char, kSize>& bytes, std::size_t size) {
    std::memcpy(at_, bytes.data(), kSize);
    at_ += size;
  }
  void text(char field, std::string_view value) {
    byte(field);
    varint(value.size());
    bytes(value);
  }
  /// Most significant byte first, as ids travel.
  void id(std::uint64_t value) { word(std::endian::native == std::endian::little ? __builtin_bswap64(value) : value); }
  void fixed(char field, std::uint64_t value) {
    byte(field);
    word(std::endian::native == std::endian::little ? value : __builtin_bswap64(value));
  }

 private:
  void word(std::uint64_t value) {
    std::memcpy(at_, &value, sizeof value);
    at_ += sizeof value;
  }

  char* at_;
};

template <typename Word>
std::uint64_t word_at(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Words at a time, the last one over some of what was seen: nearly all texts are, and all are asked.
bool is_ascii(std::string_view text) {
  constexpr std::uint64_t kHigh = 0x8080808080808080;
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  const char* const end = text.data() + text.size();
  std::uint64_t seen = 0;
  if (text.size() >= kWord) {
    for (const char* at = text.data(); at < end - kWord; at += kWord) seen |= word_at<std::uint64_t>(at);
    seen |= word_at<std::uint64_t>(end - kWord);
  } else if (text.size() >= kWord / 2) {
    seen = word_at<std::uint32_t>(text.data()) | word_at<std::uint32_t>(end - kWord / 2);
  } else {
    for (const char c : text) seen |= static_cast<unsigned char>(c);
  }
  return (seen & kHigh) == 0;
}

/// How many bytes the character at the beginning has (RFC 3629 §4); 0: there is none.
std::size_t character_size(std::string_view text) {
  const auto at = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto within = [&](std::size_t i, unsigned least, unsigned most) {
    return i < text.size() && at(i) >= least && at(i) <= most;
  };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return within(1, 0x80, 0xbf) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const unsigned least = first == 0xe0 ? 0xa0 : 0x80;
    const unsigned most = first == 0xed ? 0x9f : 0xbf;
    return within(1, least, most) && within(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const unsigned least = first == 0xf0 ? 0x90 : 0x80;
    const unsigned most = first == 0xf4 ? 0x8f : 0xbf;
    return within(1, least, most) && within(2, 0x80, 0xbf) && within(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

std::string to_utf8(std::string_view text) {
  std::string sound;
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0) {
      sound += '?';
    } else {
      sound += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return sound;
}

}  // namespace

void Attributes::add(const AttributeName& name, std::string_view text) {
  text = text.substr(0, kMaxText);
  if (is_ascii(text)) [[likely]] {
    add_text(name, text);
  } else {
    add_text(name, to_utf8(text));
  }
}

void Composed::grow(std::size_t size) {
  constexpr std::size_t kLeast = 1024;
  bytes_.resize(std::max(2 * bytes_.size(), size_ + std::max(size, kLeast)));
}

void Attributes::add_text(const AttributeName& name, std::string_view text) {
  const std::size_t any = field_size(text.size());
  const std::size_t pair = name.size_ + varint_size(any) + any;
  Pen pen(composed_.room(text.size()));
  pen.byte(kAttributes);
  pen.varint(pair);
  pen.begin(name.bytes_, name.size_);
  pen.varint(any);
  pen.text(kString, text);
  composed_.wrote_to(pen.at());
}

void Attributes::add(const AttributeName& name, std::int64_t number) {
  const auto value = static_cast<std::uint64_t>(number);
  const std::size_t any = 1 + varint_size(value);
  Pen pen(composed_.room(any));
  pen.byte(kAttributes);
  pen.varint(name.size_ + varint_size(any) + any);
  pen.begin(name.bytes_, name.size_);
  pen.varint(any);
  pen.byte(kInt);
  pen.varint(value);
  composed_.wrote_to(pen.at());
}

SpanMessage::SpanMessage(const SpanHead& of, const Attributes& with, std::string_view more)
    : head(of), attributes(with.bytes()), ready(more) {
  constexpr std::size_t kTimes = 2 * (1 + 8);
  constexpr std::size_t kKindSize = 2;
  constexpr std::size_t kCodeSize = 2;
  status = head.error.empty() ? 0 : field_size(head.error.size()) + kCodeSize;
  inner = field_size(kTraceIdBytes) + field_size(kSpanIdBytes) + (head.parent == 0 ? 0 : field_size(kSpanIdBytes)) +
          field_size(head.name.size()) + kKindSize + kTimes + attributes.size() + ready.size() +
          (status == 0 ? 0 : field_size(status));
  whole = field_size(inner);
}

char* SpanMessage::write(char* at) const {
  Pen pen(at);
  pen.byte(kSpans);
  pen.varint(inner);
  pen.byte(kTraceId);
  pen.varint(kTraceIdBytes);
  pen.id(head.trace.high);
  pen.id(head.trace.low);
  pen.byte(kSpanId);
  pen.varint(kSpanIdBytes);
  pen.id(head.id);
  if (head.parent != 0) {
    pen.byte(kParentId);
    pen.varint(kSpanIdBytes);
    pen.id(head.parent);
  }
  pen.text(kName, head.name);
  pen.byte(kKind);
  pen.byte(static_cast<char>(head.kind));
  pen.fixed(kBegin, head.begin);
  pen.fixed(kEnd, head.end);
  pen.bytes(attributes);
  pen.bytes(ready);
  if (status != 0) {
    pen.byte(kStatus);
    pen.varint(status);
    pen.text(kStatusMessage, head.error);
    pen.byte(kStatusCode);
    pen.byte(kStatusError);
  }
  return pen.at();
}

void append_span(const SpanHead& head, const Attributes& attributes, std::string& out) {
  const SpanMessage span(head, attributes);
  const std::size_t before = out.size();
  out.resize(before + span.size());
  span.write(out.data() + before);
}

std::size_t first_span_size(std::string_view spans) {
  std::uint64_t size = 0;
  std::size_t at = 1;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(spans[at++]);
    size |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return at + static_cast<std::size_t>(size);
  }
}

}  // namespace edge::runtime::trace
