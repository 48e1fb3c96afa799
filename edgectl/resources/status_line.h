// What commands that wait show and do meanwhile: a line on the terminal, and pauses between polls.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace edge::edgectl {

/// A line of stderr that is overwritten in place; shown only on a terminal.
class StatusLine {
 public:
  explicit StatusLine(std::string_view command);
  ~StatusLine();
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  void show(const std::string& text);
  /// Removes the line, for output that takes its place.
  void clear();
  /// Reports an error in place of the line.
  void tell(const std::string& error);

 private:
  bool on_;
  std::string command_;
  std::string last_;
};

/// Pauses between polls, of 20 ms at first and 500 ms at most, up to the user's timeout.
class Pauses {
 public:
  explicit Pauses(std::chrono::milliseconds patience);
  bool over() const;
  void pause();

 private:
  std::chrono::steady_clock::time_point end_;
  std::chrono::milliseconds next_;
};

}  // namespace edge::edgectl
