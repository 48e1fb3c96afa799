// What a worker lends to an exchange of its thread.
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
  /// For a response without one (RFC 9110 §6.6.1).
  std::string_view date;
  /// True once the client's connection shall not be used again, whatever the client says: the server drains.
  const bool& closing;
};

}  // namespace edge::runtime
