// How an exchange, or one phase of it, ended.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/phase/failure.h"

namespace edge::runtime {

/// Whether the request's body has been read, or is still unread before the next request.
enum class BodyState : std::uint8_t { kUnread, kRead };

struct ExchangeResult {
  Failure failure;
  int status = 0;
  /// Part of a response was sent to the client.
  bool answered = false;
  BodyState body = BodyState::kUnread;
  /// The client's connection may carry another request.
  bool reusable = false;
  /// The client's connection is ended by a reset.
  bool reset = false;
  /// The response is in a buffer or the cache, and the client has not been answered yet.
  bool withheld = false;
  /// As in RequestEnd; the reason where nothing failed.
  std::string_view reason{};
  std::uint32_t attempts = 0;
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
};

}  // namespace edge::runtime
