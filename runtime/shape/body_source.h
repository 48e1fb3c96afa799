// A body whose size is known, wherever it lies: what is delivered to a client, or sent to an upstream, at its pace.
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
  /// Some of the bytes from `at` on, at least one when `at` is below the size; in memory of the source, or read into
  /// `scratch`. Empty: they cannot be read any more, or are not here yet.
  virtual std::string_view read(std::uint64_t at, std::span<char> scratch) = 0;
  /// What becomes of the bytes from `at` on, of which a read gave none.
  enum class More : std::uint8_t {
    kNever,
    kHere,   ///< they have come since
    kComes,  ///< `wake` is called once, from any thread, when there is news of them
  };
  virtual More await(std::uint64_t at, const std::function<void()>& wake) {
    static_cast<void>(at);
    static_cast<void>(wake);
    return More::kNever;
  }
};

}  // namespace edge::runtime
