// What a worker provides to the exchanges of its thread.
#pragma once

#include <string_view>

#include "net/loop.h"
#include "runtime/phase/scratch.h"
#include "runtime/shape/compress.h"

namespace edge::runtime {

struct WorkerParts {
  net::Loop& loop;
  Scratch& scratch;
  EncoderPool& encoders;
  /// The Date for a response without one (RFC 9110 §6.6.1).
  std::string_view date;
  /// True when the server drains: the client's connection is not reused, whatever the client asks.
  const bool& closing;
};

}  // namespace edge::runtime
