// Writes protocol buffer messages field by field, for messages without generated code.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace edge {

class ProtobufWriter {
 public:
  /// A nested message being written; its destruction ends it.
  class [[nodiscard]] Message {
   public:
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;
    ~Message() { out_.close(begin_); }

   private:
    friend class ProtobufWriter;
    Message(ProtobufWriter& out, std::size_t begin) : out_(out), begin_(begin) {}
    ProtobufWriter& out_;
    std::size_t begin_;
  };

  void number(unsigned field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3);
    varint(value);
  }
  void fixed(unsigned field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3 | 1);
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
  }
  void real(unsigned field, double value) { fixed(field, std::bit_cast<std::uint64_t>(value)); }
  void text(unsigned field, std::string_view value) {
    varint(std::uint64_t{field} << 3 | 2);
    varint(value.size());
    bytes_ += value;
  }
  /// Begins a nested message: fields belong to it until the result is destroyed.
  Message message(unsigned field) {
    varint(std::uint64_t{field} << 3 | 2);
    return {*this, bytes_.size()};
  }
  std::string take() { return std::move(bytes_); }

 private:
  static std::size_t encode(std::uint64_t value, char (&out)[10]) {
    std::size_t size = 0;
    for (; value >= 0x80; value >>= 7) out[size++] = static_cast<char>(value | 0x80);
    out[size++] = static_cast<char>(value);
    return size;
  }
  void varint(std::uint64_t value) {
    char digits[10];
    bytes_.append(digits, encode(value, digits));
  }
  /// Inserts the size of a message before it, known only at its end.
  void close(std::size_t begin) {
    char digits[10];
    bytes_.insert(begin, digits, encode(bytes_.size() - begin, digits));
  }

  std::string bytes_;
};

}  // namespace edge
