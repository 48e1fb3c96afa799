// A body that is there whole, wherever it lies: what is delivered to a client, or sent to an upstream, at its pace.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace edge::runtime {

class BodySource {
 public:
  virtual ~BodySource() = default;
  virtual std::uint64_t size() const = 0;
  /// Some of the bytes from `at` on, at least one when `at` is below the size; in memory of the source, or read into
  /// `scratch`. Empty: they cannot be read any more.
  virtual std::string_view read(std::uint64_t at, std::span<char> scratch) = 0;
};

}  // namespace edge::runtime
