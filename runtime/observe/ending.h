// What became of one exchange, for those who look at it from outside: metrics, the access log, a trace. Told once, at
// its end, whichever way it ended.
#pragma once

#include <cstdint>
#include <string_view>

namespace edge::runtime {

struct Ending {
  /// That the client was sent; 0: none.
  int status = 0;
  /// The word of X-Edge-Reason, or why an answer was broken off. Empty: the upstream's answer, or a stored one, whole.
  /// Of static lifetime.
  std::string_view reason{};
  /// Of the bodies, without framing: what was taken of the client's, and given to it.
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
  /// Times that an endpoint was looked for; 0: none was asked.
  std::uint32_t attempts = 0;
  /// The answer was begun and broken off, and not by the client.
  bool broken = false;
};

}  // namespace edge::runtime
