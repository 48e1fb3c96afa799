// Parses protocol buffer messages field by field, from untrusted bytes: for messages without generated code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace edge {

/// One field of a message: its number, and its value as a number or as bytes.
struct ProtobufField {
  std::uint32_t number = 0;
  bool is_bytes = false;
  std::uint64_t value = 0;
  std::string_view bytes{};
};

class ProtobufReader {
 public:
  explicit ProtobufReader(std::string_view bytes) : bytes_(bytes) {}

  /// Returns the next field; nullopt: the end, or `malformed()`.
  std::optional<ProtobufField> next() {
    if (bytes_.empty() || malformed_) return std::nullopt;
    const std::uint64_t tag = varint();
    ProtobufField field{.number = static_cast<std::uint32_t>(tag >> 3)};
    switch (tag & 7) {
      case 0:
        field.value = varint();
        break;
      case 1:
        field.value = fixed(8);
        break;
      case 2: {
        const std::uint64_t size = varint();
        malformed_ |= size > bytes_.size();
        field.is_bytes = true;
        if (!malformed_) field.bytes = take(static_cast<std::size_t>(size));
        break;
      }
      case 5:
        field.value = fixed(4);
        break;
      default:
        malformed_ = true;
    }
    if (malformed_ || field.number == 0 || tag >> 3 > UINT32_MAX) {
      malformed_ = true;
      return std::nullopt;
    }
    return field;
  }
  bool malformed() const { return malformed_; }

 private:
  std::string_view take(std::size_t size) {
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (bytes_.empty()) break;
      const auto byte = static_cast<std::uint8_t>(take(1).front());
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    malformed_ = true;
    return 0;
  }
  std::uint64_t fixed(std::size_t size) {
    if (bytes_.size() < size) {
      malformed_ = true;
      return 0;
    }
    std::uint64_t value = 0;
    const std::string_view taken = take(size);
    for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{static_cast<std::uint8_t>(taken[i])} << (8 * i);
    return value;
  }

  std::string_view bytes_;
  bool malformed_ = false;
};

}  // namespace edge
