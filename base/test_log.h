// Keeps what is written to a Logger, for tests: `level sentence key=value ...` a line. From any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"

namespace edge {

class TestLog {
 public:
  /// It must outlive the logger.
  Logger logger() {
    return Logger(
        [this](LogLevel level, const std::string& text, const LogFields& fields) { add(level, text, fields); });
  }

  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  std::string text() const {
    std::string all;
    for (const std::string& line : lines()) all += line + "\n";
    return all;
  }
  /// Waits for a line that contains `part`. \returns whether one came.
  bool has(std::string_view part) const {
    std::unique_lock lock(mutex_);
    return came_.wait_for(lock, std::chrono::seconds(30), [&] {
      for (const std::string& line : lines_) {
        if (line.find(part) != std::string::npos) return true;
      }
      return false;
    });
  }

 private:
  void add(LogLevel level, const std::string& text, const LogFields& fields) {
    std::string line = std::string(to_string(level)) + " " + text;
    for (const LogField& field : fields) line += " " + field.key + "=" + field.value;
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
    came_.notify_all();
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable came_;
  std::vector<std::string> lines_;
};

}  // namespace edge
