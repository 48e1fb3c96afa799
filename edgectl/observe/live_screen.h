// A page on a terminal that is drawn anew as its content and the window change, until `q`.
//
// The terminal is given back as it was found on every way out: `q`, Ctrl-C, SIGTERM, SIGHUP, end of input, a terminal
// that is gone. Ctrl-Z stops the program with the terminal as it was, and `fg` brings the page back.
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

/// The lines of a page, top to bottom, without escape sequences. What is wider or higher than the size is cut off.
using Drawing = std::function<std::vector<std::string>(TerminalSize)>;
/// Finds out what is to be shown. Called on a thread of its own, never twice at a time; may block for some seconds.
using Refresh = std::function<Drawing()>;

/// Whether stdin and stdout are a terminal that knows more than lines.
bool is_screen();

/// SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGWINCH come to `show_live` alone from here on: before any other thread is
/// started, which would end the program by them without a word to the terminal.
void keep_signals_for_screen();

/// Returns the exit code: 0 after `q` or the end of input, 128 + number after a signal. Precondition: is_screen(),
/// keep_signals_for_screen(). A refresh that is under way at the end is not waited for: the program ends here then.
int show_live(const Refresh& refresh, std::chrono::milliseconds interval);

/// As many columns of `text` as there may be: one a code point.
std::string cut_to(const std::string& text, std::size_t columns);

/// Of a text whose lines each end with a newline.
std::vector<std::string> lines_of(std::string_view text);

}  // namespace edge::edgectl
