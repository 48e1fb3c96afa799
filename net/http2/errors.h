// The error codes of RFC 9113 §7 that this implementation sends.
#pragma once

#include <cstdint>

namespace edge::net::http2 {

enum ErrorCode : std::uint32_t {
  kNoError = 0x0,
  kProtocolError = 0x1,
  kInternalError = 0x2,
  kRefusedStream = 0x7,
  kCancel = 0x8,
  kEnhanceYourCalm = 0xb,
};

}  // namespace edge::net::http2
