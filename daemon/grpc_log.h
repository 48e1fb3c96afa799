// Redirects gRPC's own messages to the daemon's log.
#pragma once

#include <string>
#include <string_view>

#include "base/log.h"

namespace edge::daemon {

/// While this object lives, messages of gRPC's library become lines of `log`, rate-limited, with a readable cause:
/// otherwise peers could cause any number of them, in a foreign format (`E1123 ...`). One per process. Later messages,
/// from threads that gRPC ends itself, are dropped. With GRPC_VERBOSITY in the environment gRPC's messages are left
/// unchanged, for debugging.
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
/// Rewords a message of gRPC's library: `Handshake failed with fatal error SSL_ERROR_SSL: error:...:no shared cipher`.
GrpcLine read_grpc_line(std::string_view message);

}  // namespace edge::daemon
