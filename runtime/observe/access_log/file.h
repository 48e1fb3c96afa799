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
  /// `-`: standard output. Empty: nowhere.
  std::string path = "-";
  /// A file that would grow over this many bytes is rotated; 0: never. Of a file that several processes write each
  /// counts its own bytes.
  std::uint64_t max_size = 0;
  /// Rotated files that are kept: PATH.1 (the youngest) to PATH.N.
  unsigned keep = 5;
};

class LogFile {
 public:
  /// Calls `tell` with a message for the operator when nothing can be written, and why.
  explicit LogFile(LogFileOptions options, std::function<void(const std::string&)> tell);

  /// Opens the path. A FIFO that nobody reads yet is no fault: it is tried again.
  Status open();
  /// Reopens the path, after a rotation by somebody else. The open file is kept when that fails.
  void reopen();

  struct Wrote {
    std::size_t bytes = 0;  ///< of the text, which are done with
    bool lost = false;      ///< they went nowhere: the disk is full, nobody reads
  };
  /// Writes lines, each with its newline, as far as the output takes them now. Waits for the disk alone.
  Wrote write(std::string_view lines);
  /// Descriptor for poll(2) when the output takes nothing more; -1: nothing is open.
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
  /// The last byte was no newline.
  bool mid_line_ = false;
  /// The rest of a line was lost behind its beginning.
  bool torn_ = false;
  std::chrono::steady_clock::time_point told_at_{};
  std::chrono::steady_clock::time_point tried_at_{};
  std::chrono::steady_clock::time_point looked_at_{};
};

}  // namespace edge::runtime
