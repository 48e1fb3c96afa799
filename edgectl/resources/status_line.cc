#include "edgectl/resources/status_line.h"

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

#include "cli/flags.h"
#include "cli/terminal.h"

namespace edge::edgectl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFirstPause(20);
constexpr std::chrono::milliseconds kLongestPause(500);
constexpr std::string_view kStartOfLine = "\r\x1b[K";

}  // namespace

StatusLine::StatusLine(std::string_view command) : on_(cli::colour_for(stderr) == Colour::kYes), command_(command) {}

StatusLine::~StatusLine() { clear(); }

void StatusLine::show(const std::string& text) {
  if (!on_ || text == last_) return;
  last_ = text;
  cli::write_text(stderr, std::string(kStartOfLine) + command_ + ": " + text);
}

void StatusLine::clear() {
  if (!std::exchange(last_, {}).empty()) cli::write_text(stderr, kStartOfLine);
}

void StatusLine::tell(const std::string& error) {
  clear();
  cli::print_error(command_, error);
}

Pauses::Pauses(std::chrono::milliseconds patience) : end_(Clock::now() + patience), next_(kFirstPause) {}

bool Pauses::over() const { return Clock::now() >= end_; }

void Pauses::pause() {
  std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(next_, end_ - Clock::now()));
  next_ = std::min(next_ * 2, kLongestPause);
}

}  // namespace edge::edgectl
