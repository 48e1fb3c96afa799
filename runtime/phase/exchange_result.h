// How an exchange, or the part of it that a phase carried out, ended.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/phase/failure.h"

namespace edge::runtime {

/// Whether the request's body still stands between its head and the next request.
enum class BodyState : std::uint8_t { kUnread, kRead };

struct ExchangeResult {
  Failure failure;
  int status = 0;
  /// Some of a response went to the client.
  bool answered = false;
  BodyState body = BodyState::kUnread;
  /// The client's connection may carry another request.
  bool reusable = false;
  /// The client's connection ends with a reset.
  bool reset = false;
  /// The response is here and not with the client, who waits to be answered.
  bool withheld = false;
  /// As RequestEnd has them; the reason where nothing failed.
  std::string_view reason{};
  std::uint32_t attempts = 0;
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
};

}  // namespace edge::runtime
