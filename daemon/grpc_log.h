// What gRPC writes of its own accord, as lines of the daemon's log.
#pragma once

#include <string>
#include <string_view>

#include "base/log.h"

namespace edge::daemon {

/// While it lives, lines of gRPC's library become lines of `log`, at most a few an interval, with their cause in words:
/// what peers do to a port would else be told as often as they do it, in a form of its own (`E1123 ...`). One at a
/// time in a process. Lines that come later, of threads that gRPC ends by itself, go nowhere. Where the environment
/// has GRPC_VERBOSITY, gRPC's lines stay as they are: somebody looks for a fault in it.
class GrpcLog {
 public:
  explicit GrpcLog(Logger log);
  ~GrpcLog();
  GrpcLog(const GrpcLog&) = delete;
  GrpcLog& operator=(const GrpcLog&) = delete;
};

struct GrpcLine {
  std::string text;
  std::string reason;
};
/// A line of gRPC's library in our words: `Handshake failed with fatal error SSL_ERROR_SSL: error:...:no shared
/// cipher`.
GrpcLine read_grpc_line(std::string_view message);

}  // namespace edge::daemon
