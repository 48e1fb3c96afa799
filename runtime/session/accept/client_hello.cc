#include "runtime/session/accept/client_hello.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/hostname.h"

namespace edge::runtime {
namespace {

constexpr std::size_t kRecordHeader = 5;
constexpr std::size_t kMaxFragment = std::size_t{1} << 14;
constexpr std::uint8_t kHandshake = 22;
constexpr std::uint8_t kClientHello = 1;
constexpr std::size_t kMessageHeader = 4;
constexpr std::size_t kRandom = 32;
constexpr std::size_t kMaxSessionId = 32;
constexpr std::uint16_t kServerName = 0;
constexpr std::uint8_t kHostName = 0;

std::uint8_t byte_of(char c) { return static_cast<std::uint8_t>(c); }

/// The payload of consecutive handshake records. Nothing is copied: reads skip the record headers.
class Payload {
 public:
  enum class End : std::uint8_t { kNone, kTorn, kFault };

  explicit Payload(std::string_view bytes) : rest_(bytes) {}

  /// Why the last read failed: the bytes came to their end, or are no handshake records.
  End end() const { return end_; }

  std::optional<std::uint32_t> number(std::size_t bytes) {
    std::uint32_t value = 0;
    for (; bytes > 0; --bytes) {
      if (!next_fragment()) return std::nullopt;
      value = value << 8 | byte_of(rest_.front());
      advance(1);
    }
    return value;
  }

  bool skip(std::size_t bytes) { return move(bytes, nullptr); }
  bool copy(std::size_t bytes, char* into) { return move(bytes, into); }

 private:
  /// There is a byte to be read.
  bool next_fragment() {
    if (fragment_ > 0 && !rest_.empty()) return true;
    if (fragment_ == 0) {
      // A header that is torn may be known to be wrong by its first bytes.
      if ((!rest_.empty() && byte_of(rest_[0]) != kHandshake) || (rest_.size() > 1 && byte_of(rest_[1]) != 3)) {
        return fail(End::kFault);
      }
      if (rest_.size() < kRecordHeader) return fail(End::kTorn);
      fragment_ = static_cast<std::size_t>(byte_of(rest_[3])) << 8 | byte_of(rest_[4]);
      if (fragment_ == 0 || fragment_ > kMaxFragment) return fail(End::kFault);
      rest_.remove_prefix(kRecordHeader);
    }
    return !rest_.empty() || fail(End::kTorn);
  }

  bool move(std::size_t bytes, char* into) {
    while (bytes > 0) {
      if (!next_fragment()) return false;
      const std::size_t step = std::min({bytes, fragment_, rest_.size()});
      if (into != nullptr) into = std::copy_n(rest_.data(), step, into);
      advance(step);
      bytes -= step;
    }
    return true;
  }

  void advance(std::size_t bytes) {
    rest_.remove_prefix(bytes);
    fragment_ -= bytes;
  }

  bool fail(End end) {
    end_ = end;
    return false;
  }

  std::string_view rest_;
  std::size_t fragment_ = 0;  // bytes left of this record
  End end_ = End::kNone;
};

/// Reads one message; `left_` is the number of bytes that remain.
class HelloReader {
 public:
  HelloReader(Payload& payload, std::size_t size, ClientHello& out) : payload_(payload), left_(size), out_(out) {}

  /// False when it is at fault, or torn: payload.end() tells.
  bool read() {
    std::uint32_t version = 0;
    if (!number(2, version) || (version >> 8) != 3 || !skip(kRandom)) return false;
    if (!vector(1, 0, kMaxSessionId) || !vector(2, 2, 0xfffe) || !vector(1, 1, 0xff)) return false;
    if (left_ == 0) return true;  // of old: no extensions, so no name
    std::uint32_t size = 0;
    if (!number(2, size) || size != left_) return false;
    while (left_ > 0) {
      if (!extension()) return false;
    }
    return true;
  }

 private:
  bool number(std::size_t bytes, std::uint32_t& value) {
    if (bytes > left_) return false;
    const auto read = payload_.number(bytes);
    if (!read) return false;
    left_ -= bytes;
    value = *read;
    return true;
  }

  bool skip(std::size_t bytes) {
    if (bytes > left_ || !payload_.skip(bytes)) return false;
    left_ -= bytes;
    return true;
  }

  /// A list behind its length, which is passed over.
  bool vector(std::size_t length_bytes, std::uint32_t least, std::uint32_t most) {
    std::uint32_t size = 0;
    return number(length_bytes, size) && size >= least && size <= most && skip(size);
  }

  /// Those that are not known, GREASE (RFC 8701) among them, are passed over.
  bool extension() {
    std::uint32_t type = 0;
    std::uint32_t size = 0;
    if (!number(2, type) || !number(2, size) || size > left_) return false;
    if (type != kServerName) return skip(size);
    // None may stand twice (RFC 8446 §4.2): two readers might go by two names.
    if (named_) return false;
    named_ = true;
    return names(size);
  }

  bool names(std::size_t extension) {
    std::uint32_t list = 0;
    if (!number(2, list) || list + 2 != extension || list == 0) return false;
    while (list > 0) {
      std::uint32_t type = 0;
      std::uint32_t size = 0;
      if (list < 3 || !number(1, type) || !number(2, size) || size > list - 3) return false;
      list -= 3 + size;
      if (type != kHostName) {
        if (!skip(size)) return false;
      } else if (!host_name(size)) {
        return false;
      }
    }
    return true;
  }

  bool host_name(std::size_t size) {
    std::array<char, 255> raw;
    if (out_.name_size != 0 || size == 0 || size > raw.size() || !payload_.copy(size, raw.data())) return false;
    left_ -= size;
    const std::string_view name(raw.data(), size);
    char buffer[256];
    // A name carries no port: it would be cut off, and another name be routed by.
    const auto canonical = name.find(':') == std::string_view::npos ? canonical_host(name, buffer) : std::nullopt;
    if (!canonical || canonical->empty() || canonical->size() > 255) return false;
    std::memcpy(out_.name.data(), canonical->data(), canonical->size());
    out_.name_size = static_cast<std::uint8_t>(canonical->size());
    return true;
  }

  Payload& payload_;
  std::size_t left_;
  ClientHello& out_;
  bool named_ = false;
};

}  // namespace

HelloState parse_client_hello(std::string_view bytes, ClientHello& out) {
  out.name_size = 0;
  const bool full = bytes.size() >= kMaxClientHello;
  Payload payload(bytes.substr(0, kMaxClientHello));
  const auto state = [&] {
    return payload.end() == Payload::End::kTorn && !full ? HelloState::kIncomplete : HelloState::kFault;
  };
  const auto type = payload.number(1);
  if (!type) return state();
  if (*type != kClientHello) return HelloState::kFault;
  const auto size = payload.number(3);
  if (!size) return state();
  if (*size > kMaxClientHello - kRecordHeader - kMessageHeader) return HelloState::kFault;
  return HelloReader(payload, *size, out).read() ? HelloState::kComplete : state();
}

}  // namespace edge::runtime
