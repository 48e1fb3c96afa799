// For tests: writes databases in MaxMind's format (MMDB 2.0, https://maxmind.github.io/MaxMind-DB/).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip.h"

namespace edge::runtime::testing {

class TestMmdb {
 public:
  /// `ip_version`: 4 or 6.
  explicit TestMmdb(std::string type, std::uint16_t ip_version = 6) : type_(std::move(type)), version_(ip_version) {}

  /// Wider networks first.
  TestMmdb& country(std::string_view network, std::string_view code) {
    return add(network, map({{"country", map({{"iso_code", text(code)}})}}));
  }
  TestMmdb& system(std::string_view network, std::uint32_t number) {
    return add(network, map({{"autonomous_system_number", uint32(number)}}));
  }
  /// `data`: as `text`, `uint32` and `map` return it.
  TestMmdb& add(std::string_view network, const std::string& data) {
    const Cidr block = *parse_cidr(network);
    const bool v4 = block.address.is_v4() && block.prefix_length >= 96;
    // In a tree of IPv6, IPv4 is in ::/96.
    const int begin = v4 && version_ == 4 ? 96 : 0;
    IpAddress address = block.address;
    if (v4) address.bytes[10] = address.bytes[11] = 0;
    const Record wanted{Record::kData, static_cast<std::uint32_t>(data_.size())};
    data_ += data;
    std::size_t node = 0;
    for (int bit = begin; bit < block.prefix_length; ++bit) {
      const std::size_t side = (address.bytes[static_cast<std::size_t>(bit) / 8] >> (7 - bit % 8)) & 1;
      if (bit + 1 == block.prefix_length) {
        nodes_[node][side] = wanted;
        break;
      }
      if (nodes_[node][side].kind != Record::kNode) {
        const Record wide = nodes_[node][side];
        nodes_[node][side] = {Record::kNode, static_cast<std::uint32_t>(nodes_.size())};
        nodes_.push_back({wide, wide});
      }
      node = nodes_[node][side].value;
    }
    return *this;
  }

  std::string bytes() const {
    std::string out;
    const auto count = static_cast<std::uint32_t>(nodes_.size());
    for (const auto& node : nodes_) {
      for (const Record& record : node) {
        std::uint32_t value = count;
        if (record.kind == Record::kNode) value = record.value;
        if (record.kind == Record::kData) value = count + 16 + record.value;
        out += big(value, 3);
      }
    }
    out += std::string(16, '\0') + data_;
    out += "\xab\xcd\xefMaxMind.com";
    return out + map({{"binary_format_major_version", uint16(2)},
                      {"binary_format_minor_version", uint16(0)},
                      {"build_epoch", std::string("\x08\x02", 2) + big(0, 3) + big(1'764'115'200, 5)},
                      {"database_type", text(type_)},
                      {"description", map({})},
                      {"ip_version", uint16(version_)},
                      {"languages", std::string("\x00\x04", 2)},
                      {"node_count", uint32(count)},
                      {"record_size", uint16(24)}});
  }

  static std::string text(std::string_view value) { return control(2, value.size()) + std::string(value); }
  static std::string uint32(std::uint32_t value) { return control(6, 4) + big(value, 4); }
  static std::string uint16(std::uint16_t value) { return control(5, 2) + big(value, 2); }
  static std::string map(const std::vector<std::pair<std::string_view, std::string>>& entries) {
    std::string out = control(7, entries.size());
    for (const auto& [name, value] : entries) out += text(name) + value;
    return out;
  }

 private:
  struct Record {
    enum Kind : std::uint8_t { kEmpty, kNode, kData } kind = kEmpty;
    std::uint32_t value = 0;
  };
  /// Sizes below 285.
  static std::string control(unsigned type, std::size_t size) {
    if (size < 29) return {static_cast<char>(type << 5 | size)};
    return {static_cast<char>(type << 5 | 29), static_cast<char>(size - 29)};
  }
  static std::string big(std::uint64_t value, std::size_t bytes) {
    std::string out;
    for (std::size_t i = bytes; i-- > 0;) out += static_cast<char>(value >> (8 * i));
    return out;
  }

  std::string type_;
  std::uint16_t version_;
  std::vector<std::array<Record, 2>> nodes_{1};
  std::string data_;
};

}  // namespace edge::runtime::testing
