// Frames by hand, for tests: what a client may say, sound or not, and what it is told. Shares no code with the codec.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace edge::net::http2::testing {

enum FrameType : std::uint8_t {
  kData = 0,
  kHeaders = 1,
  kPriority = 2,
  kRstStream = 3,
  kSettings = 4,
  kPing = 6,
  kGoAway = 7,
  kWindowUpdate = 8,
  kContinuation = 9,
};
enum FrameFlag : std::uint8_t { kNone = 0, kEndStream = 1, kAck = 1, kEndHeaders = 4 };

using Fields = std::vector<std::pair<std::string, std::string>>;

inline std::string number(std::uint32_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 0xff);
  return text;
}

inline std::string frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, std::string_view payload = {}) {
  std::string text = number(static_cast<std::uint32_t>(payload.size())).substr(1);
  text += static_cast<char>(type);
  text += static_cast<char>(flags);
  return text + number(stream) + std::string(payload);
}

/// HPACK without tables and without Huffman (RFC 7541 §6.2.2).
inline std::string block(const Fields& fields) {
  const auto text = [](std::string_view value) {
    std::string coded;
    if (value.size() < 127) {
      coded += static_cast<char>(value.size());
    } else {
      std::size_t rest = value.size() - 127;
      coded += '\x7f';
      for (; rest >= 128; rest /= 128) coded += static_cast<char>(rest % 128 | 128);
      coded += static_cast<char>(rest);
    }
    return coded + std::string(value);
  };
  std::string coded;
  for (const auto& [name, value] : fields) coded += std::string(1, '\0') + text(name) + text(value);
  return coded;
}

inline Fields get(const std::string& path) {
  return {{":method", "GET"}, {":scheme", "http"}, {":authority", "example.com"}, {":path", path}};
}
inline Fields post(const std::string& path) {
  return {{":method", "POST"}, {":scheme", "http"}, {":authority", "example.com"}, {":path", path}};
}

inline std::string headers(std::uint32_t stream, const Fields& fields, std::uint8_t flags = kEndHeaders | kEndStream) {
  return frame(kHeaders, flags, stream, block(fields));
}

/// One large entry of the table, named `times` more: a byte each on the wire, four kilobytes each once decoded.
inline std::string bomb(std::string_view name, std::size_t times) {
  std::string coded = "\x40";
  coded += static_cast<char>(name.size());
  coded += name;
  coded += "\x7f\xa1\x1e" + std::string(4000, 'y');
  return coded.append(times, '\xbe');
}

inline std::string preface(std::string_view settings = {}) {
  return "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(kSettings, kNone, 0, settings);
}
inline std::string setting(std::uint16_t id, std::uint32_t value) { return number(id).substr(2) + number(value); }

struct Frame {
  std::uint8_t type = 0;
  std::uint8_t flags = 0;
  std::uint32_t stream = 0;
  std::string payload;

  std::uint32_t number_at(std::size_t at) const {
    std::uint32_t value = 0;
    for (std::size_t i = at; i < at + 4 && i < payload.size(); ++i)
      value = value << 8 | static_cast<std::uint8_t>(payload[i]);
    return value;
  }
};

/// The whole frames of `bytes`.
inline std::vector<Frame> frames_of(std::string_view bytes) {
  std::vector<Frame> frames;
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(bytes[at]); };
  while (bytes.size() >= 9) {
    const std::size_t size = std::size_t{byte(0)} << 16 | std::size_t{byte(1)} << 8 | byte(2);
    if (bytes.size() < 9 + size) break;
    const std::uint32_t stream =
        (std::uint32_t{byte(5)} << 24 | std::uint32_t{byte(6)} << 16 | std::uint32_t{byte(7)} << 8 | byte(8)) &
        0x7fffffff;
    frames.push_back({byte(3), byte(4), stream, std::string(bytes.substr(9, size))});
    bytes.remove_prefix(9 + size);
  }
  return frames;
}

}  // namespace edge::net::http2::testing
