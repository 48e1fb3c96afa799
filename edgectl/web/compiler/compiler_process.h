// The server's end of the compiler's process (compile_service.h): started when it is needed, ended when nobody has
// needed it for a while.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/socket.h"

namespace edge::edgectl::web {

/// Blocks. `ask` and `end_if_idle` are for one thread at a time; `stop` for any.
class CompilerProcess {
 public:
  explicit CompilerProcess(std::string executable = "/proc/self/exe") : executable_(std::move(executable)) {}
  /// Ends the process.
  ~CompilerProcess();
  CompilerProcess(const CompilerProcess&) = delete;
  CompilerProcess& operator=(const CompilerProcess&) = delete;

  /// Counts processes: changes are to begin with `forget` where it is not that of the call before.
  unsigned generation() const { return generation_; }
  /// Starts the process unless it runs.
  Status start();
  /// Sends a message as compile_service.h has it, and returns the call's JSON. A process that has not answered in
  /// `time`, or breaks the protocol, is ended. kUnavailable: it ended, or cannot be run.
  Result<std::string> ask(std::string_view message, std::chrono::milliseconds time);
  /// Returns whether none runs any more.
  bool end_if_idle(std::chrono::milliseconds idle);
  /// Makes a call in progress, and every later one, fail.
  void stop();

 private:
  void end();

  const std::string executable_;
  std::mutex mutex_;  ///< for the socket, between `stop` and the thread that asks
  net::Fd socket_;
  bool stopped_ = false;
  pid_t pid_ = -1;
  unsigned generation_ = 0;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace edge::edgectl::web
