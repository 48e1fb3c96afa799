// What a request learned about the endpoint that it was sent to: what ejection and circuit judge by.
#pragma once

#include <cstdint>

namespace edge::runtime {

enum class RequestResult : std::uint8_t {
  kUnknown,      ///< nothing: the client left first or was too slow, or a pooled connection had died
  kSuccess,      ///< an answer below 500
  kServerError,  ///< an answer of 500 or above: an error of the endpoint's own making
  kNoAnswer,     ///< could not connect, was reset, took too long, answered nonsense: seen from here alone
};

inline bool is_error(RequestResult outcome) {
  return outcome == RequestResult::kServerError || outcome == RequestResult::kNoAnswer;
}

}  // namespace edge::runtime
