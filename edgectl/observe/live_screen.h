// A terminal page that is redrawn when its content or the window changes, until `q`.
//
// The terminal is restored in all cases: `q`, Ctrl-C, SIGTERM, SIGHUP, end of input, a closed terminal. Ctrl-Z suspends
// with the terminal restored, and `fg` shows the page again.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace edge::edgectl {

struct TerminalSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

/// Returns the lines of a page, top to bottom, without escape sequences. What exceeds the size is cut off.
using Drawing = std::function<std::vector<std::string>(TerminalSize)>;
/// Fetches the data to show. Called on a thread of its own, one call at a time; may block for some seconds.
using Refresh = std::function<Drawing()>;

/// Returns whether stdin and stdout are a terminal that supports more than lines.
bool is_screen();

/// Blocks SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGWINCH for all threads but `show_live`. To be called before other
/// threads are started, where a signal would end the program without restoring the terminal.
void keep_signals_for_screen();

/// Shows the page. Returns the exit code: 0 after `q` or the end of input, 128 + number after a signal. Precondition:
/// is_screen(), keep_signals_for_screen(). A refresh in progress at the end is not waited for: the program exits here
/// then.
int show_live(const Refresh& refresh, std::chrono::milliseconds interval);

/// Cuts `text` to a number of columns: one per code point.
std::string cut_to(const std::string& text, std::size_t columns);

/// Splits a text whose lines each end with a newline.
std::vector<std::string> lines_of(std::string_view text);

}  // namespace edge::edgectl
