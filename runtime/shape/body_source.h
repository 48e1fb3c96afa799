// A body of known size, in memory, in a file or still arriving, read to be sent to a client or an upstream at its pace.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

namespace edge::runtime {

class BodySource {
 public:
  virtual ~BodySource() = default;
  virtual std::uint64_t size() const = 0;
  /// Returns some of the bytes from `at` on, at least one when `at` is below the size; a view of the source's memory,
  /// or read into `scratch`. Empty: they cannot be read any more, or have not arrived yet.
  virtual std::string_view read(std::uint64_t at, std::span<char> scratch) = 0;
  /// What will happen to the bytes from `at` on, after a read returned none.
  enum class More : std::uint8_t {
    kNever,
    kHere,   ///< they have arrived since the read
    kComes,  ///< `wake` is called once, from any thread, when they have arrived or will not
  };
  virtual More await(std::uint64_t at, const std::function<void()>& wake) {
    static_cast<void>(at);
    static_cast<void>(wake);
    return More::kNever;
  }
};

}  // namespace edge::runtime
