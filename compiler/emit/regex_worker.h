// The process that runs edge-regexc: starts, queries, kills and replaces it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "compiler/emit/regex.h"

namespace edge::compiler::emit {

/// Not thread-safe.
class RegexWorker {
 public:
  RegexWorker(std::string path, RegexLimits limits) : path_(std::move(path)), limits_(limits) {}
  ~RegexWorker() { stop(); }
  RegexWorker(const RegexWorker&) = delete;
  RegexWorker& operator=(const RegexWorker&) = delete;

  /// The reply's frame; or, when the worker died or exceeded a limit, the reason.
  struct Reply {
    std::string frame;
    std::string fault;
  };

  /// Sends a frame, starting the worker if needed. kUnavailable when it cannot be started.
  Result<Reply> ask(std::string_view frame);

 private:
  using Deadline = std::chrono::steady_clock::time_point;
  enum class ReplyStatus { kAnswered, kDied, kLate };

  Status start();
  Status spawn();
  ReplyStatus exchange(std::string_view frame, std::string& reply);
  bool send_all(std::string_view bytes) const;
  ReplyStatus receive_all(char* bytes, std::size_t size, Deadline deadline) const;
  /// Ends the worker. \returns its status as from waitpid.
  int stop();
  std::string describe(int status) const;

  std::string path_;
  RegexLimits limits_;
  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace edge::compiler::emit
