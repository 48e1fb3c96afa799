// Writes lines of the access log to a file, which is rotated, a pipe or a terminal. Never waits for a reader. Used by
// one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/socket.h"

namespace edge::runtime {

struct LogFileOptions {
  /// `-`: standard output. Empty: no output.
  std::string path = "-";
  /// A file that would exceed this many bytes is rotated; 0: never. Of a file shared by several processes each counts
  /// its own bytes.
  std::uint64_t max_size = 0;
  /// Rotated files that are kept: PATH.1 (the youngest) to PATH.N.
  unsigned keep = 5;
};

class LogFile {
 public:
  /// Calls `tell` with a message for the operator when nothing can be written, and why.
  explicit LogFile(LogFileOptions options, std::function<void(const std::string&)> tell);

  /// Opens the path. A FIFO without a reader is no error: opening is retried.
  Status open();
  /// Reopens the path, after a rotation by somebody else. The open file is kept when that fails.
  void reopen();

  struct Wrote {
    std::size_t bytes = 0;  ///< bytes of the text that need not be written again
    bool lost = false;      ///< they were lost: the disk is full, or the pipe has no reader
  };
  /// Writes lines, each with its newline, as many as the output accepts now. Blocks on the disk only.
  Wrote write(std::string_view lines);
  /// Returns a descriptor for poll(2) when the output accepts nothing more; -1: none is open.
  int fd() const { return fd_.get(); }

 private:
  Status open_path(net::Fd& into);
  void take(net::Fd fd);
  std::string_view piece_of(std::string_view lines) const;
  void keep_in_bounds();
  bool was_moved() const;
  void rotate();
  void fault(const std::string& what);
  Wrote lose(std::string_view lines, int error);

  LogFileOptions options_;
  std::function<void(const std::string&)> tell_;
  net::Fd fd_;
  std::uint64_t size_ = 0;
  bool regular_ = false;
  /// The last byte written was not a newline.
  bool mid_line_ = false;
  /// The end of a partly written line was lost.
  bool torn_ = false;
  std::chrono::steady_clock::time_point told_at_{};
  std::chrono::steady_clock::time_point tried_at_{};
  std::chrono::steady_clock::time_point looked_at_{};
};

}  // namespace edge::runtime
