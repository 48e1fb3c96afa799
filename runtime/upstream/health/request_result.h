// What a request's outcome says of its endpoint: the input of ejection and circuit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace edge::runtime {

enum class RequestResult : std::uint8_t {
  kUnknown,      ///< nothing: the client left first or was too slow, or a pooled connection was dead
  kSuccess,      ///< a response below 500
  kServerError,  ///< a response of 500 or above, made by the endpoint
  kNoAnswer,     ///< connect failure, reset, timeout or invalid response
};

inline constexpr std::size_t kRequestResults = 4;

inline bool is_error(RequestResult outcome) {
  return outcome == RequestResult::kServerError || outcome == RequestResult::kNoAnswer;
}

}  // namespace edge::runtime
