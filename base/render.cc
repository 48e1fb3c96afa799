// Renders diagnostics as text, in the style of rustc. The texts may be untrusted: control bytes never reach the
// terminal.
#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/diagnostics.h"

namespace edge {
namespace {

constexpr std::size_t kTabWidth = 4;
/// Longer lines (JSON in one line) are shown as a window around the mark.
constexpr std::size_t kWidestLine = 160;
constexpr std::uint32_t kMostLinesOfSpan = 6;

struct Paint {
  bool on;
  std::string operator()(const char* code, std::string_view text) const {
    if (!on || text.empty()) return std::string(text);
    return std::string("\x1b[") + code + "m" + std::string(text) + "\x1b[0m";
  }
};
constexpr const char* kBold = "1";
constexpr const char* kBlue = "1;34";
constexpr const char* kRed = "1;31";
constexpr const char* kYellow = "1;33";
constexpr const char* kGreen = "1;32";

const char* colour_of(Severity severity) {
  return severity == Severity::kError ? kRed : severity == Severity::kWarning ? kYellow : kGreen;
}

std::string_view word_of(Severity severity) {
  return severity == Severity::kError ? "error" : severity == Severity::kWarning ? "warning" : "note";
}

bool continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }
bool control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) out.push_back(control(c) ? (c == '\n' || c == '\t' ? ' ' : '?') : c);
  return out;
}

/// A source line as shown, and the display column of each of its bytes (and of its end).
struct ShownLine {
  std::string text;
  std::vector<std::size_t> columns;
};

ShownLine show_line(std::string_view line) {
  ShownLine shown;
  std::size_t column = 0;
  for (const char c : line) {
    shown.columns.push_back(column);
    if (c == '\t') {
      shown.text.append(kTabWidth, ' ');
      column += kTabWidth;
    } else {
      shown.text.push_back(control(c) ? '?' : c);
      // The bytes after the first of a UTF-8 sequence take no column of their own.
      if (!continuation(c)) ++column;
    }
  }
  shown.columns.push_back(column);
  return shown;
}

/// Cuts `shown` to a window that holds `from`, on character boundaries. Gives the columns cut off on the left.
std::size_t clip(ShownLine& shown, std::size_t from) {
  if (shown.columns.back() <= kWidestLine) return 0;
  const std::size_t left = from > kWidestLine / 2 ? from - kWidestLine / 2 : 0;
  const std::size_t right = left + kWidestLine;
  std::string text;
  std::size_t column = 0;
  for (const char c : shown.text) {
    if (!continuation(c)) ++column;
    if (column > left && column <= right) text.push_back(c);
  }
  if (left > 0) text.replace(0, std::min<std::size_t>(3, text.size()), "...");
  if (column > right) text += "...";
  shown.text = std::move(text);
  return left;
}

/// One mark under one line.
struct Mark {
  std::uint32_t line = 0;
  std::size_t begin = 0;  ///< byte in the line
  std::size_t end = 0;
  bool primary = false;
  std::string text;
  /// The first line of a span of several: `last_line` is its last. 0: one line.
  std::uint32_t last_line = 0;
};

Mark make_mark(const SourceText& source, Span span, bool primary, std::string text) {
  const auto size = static_cast<std::uint32_t>(source.text().size());
  const std::uint32_t begin = std::min(span.begin, size);
  const std::uint32_t end = std::clamp(span.end, begin, size);
  const LineColumn first = source.position(begin);
  const LineColumn last = source.position(end > begin ? end - 1 : begin);
  Mark mark{.line = first.line, .begin = first.column - 1, .end = 0, .primary = primary, .text = std::move(text)};
  if (last.line == first.line) {
    mark.end = std::max<std::size_t>(mark.begin + (end - begin), mark.begin + 1);
  } else {
    mark.end = std::max(source.line(first.line).size(), mark.begin + 1);
    mark.last_line = last.line;
  }
  return mark;
}

class Renderer {
 public:
  Renderer(const Diagnostic& diagnostic, const SourceMap& sources, Paint paint)
      : diagnostic_(diagnostic), sources_(sources), paint_(paint) {}

  std::string run() {
    header();
    if (known(diagnostic_.span)) {
      width_ = gutter_width();
      excerpt(diagnostic_.span.source, "-->", true);
      for (const std::uint32_t source : other_sources()) excerpt(source, ":::", false);
    }
    footer();
    return std::move(out_);
  }

 private:
  bool known(Span span) const { return span.somewhere() && span.source < sources_.size(); }

  void header() {
    const char* colour = colour_of(diagnostic_.severity);
    out_ += paint_(colour, std::string(word_of(diagnostic_.severity)) + "[" + code_text(diagnostic_.code) + "]");
    out_ += paint_(kBold, ": " + printable(diagnostic_.message)) + "\n";
  }

  std::vector<std::uint32_t> other_sources() const {
    std::vector<std::uint32_t> others;
    for (const Label& label : diagnostic_.labels) {
      if (!known(label.span) || label.span.source == diagnostic_.span.source) continue;
      if (std::find(others.begin(), others.end(), label.span.source) == others.end()) {
        others.push_back(label.span.source);
      }
    }
    return others;
  }

  std::vector<Mark> marks_of(std::uint32_t source, bool with_primary) const {
    std::vector<Mark> marks;
    if (with_primary) marks.push_back(make_mark(sources_[source], diagnostic_.span, true, ""));
    for (const Label& label : diagnostic_.labels) {
      if (label.span.source != source) continue;
      // A label on the very place of the diagnostic is the text of its carets.
      if (with_primary && label.span == diagnostic_.span && marks[0].text.empty()) {
        marks[0].text = printable(label.text);
        continue;
      }
      marks.push_back(make_mark(sources_[source], label.span, false, printable(label.text)));
    }
    std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
      return std::tie(a.line, a.begin, a.end, b.primary, a.text) < std::tie(b.line, b.begin, b.end, a.primary, b.text);
    });
    return marks;
  }

  std::size_t gutter_width() const {
    std::uint32_t largest = 1;
    const auto take = [&](Span span) {
      if (!known(span)) return;
      const SourceText& source = sources_[span.source];
      const auto end = std::min<std::uint32_t>(span.end, static_cast<std::uint32_t>(source.text().size()));
      largest = std::max(largest, source.position(end).line);
    };
    take(diagnostic_.span);
    for (const Label& label : diagnostic_.labels) take(label.span);
    return std::to_string(largest).size();
  }

  void gutter(std::string_view number) {
    out_ += paint_(kBlue, std::string(width_ - number.size(), ' ') + std::string(number) + " |");
  }

  void empty_line() {
    gutter("");
    out_ += "\n";
  }

  void excerpt(std::uint32_t id, std::string_view arrow, bool with_primary) {
    const SourceText& source = sources_[id];
    const std::vector<Mark> marks = marks_of(id, with_primary);
    Span span = diagnostic_.span;
    if (!with_primary) {
      for (const Label& label : diagnostic_.labels) {
        if (label.span.source == id) {
          span = label.span;
          break;
        }
      }
    }
    const auto size = static_cast<std::uint32_t>(source.text().size());
    const LineColumn at = source.position(std::min(span.begin, size));
    out_ += std::string(width_, ' ') + paint_(kBlue, arrow) + " " + printable(source.name()) + ":" +
            std::to_string(at.line) + ":" + std::to_string(at.column) + "\n";
    empty_line();
    std::uint32_t shown = 0;
    for (std::size_t i = 0; i < marks.size(); ++i) {
      const Mark& mark = marks[i];
      if (mark.line > shown) {
        skip_to(id, shown, mark.line);
        line(id, mark.line, mark.begin);
        shown = mark.line;
      }
      carets(id, mark);
      if (mark.last_line != 0) shown = std::max(shown, rest_of_span(id, mark, shown));
    }
  }

  void skip_to(std::uint32_t id, std::uint32_t shown, std::uint32_t next) {
    if (shown == 0 || next == shown + 1) return;
    if (next == shown + 2) {
      line(id, shown + 1, 0);
    } else {
      out_ += paint_(kBlue, "...") + "\n";
    }
  }

  /// A line without the secrets in it; as long as it was, so that marks stay where they are.
  std::string line_text(std::uint32_t id, std::uint32_t number) const {
    const SourceText& source = sources_[id];
    const std::string_view line = source.line(number);
    std::string text(line);
    const auto begin = static_cast<std::size_t>(line.data() - source.text().data());
    for (const Span& hidden : diagnostic_.hidden) {
      if (hidden.source != id || hidden.end <= begin || hidden.begin >= begin + line.size()) continue;
      const std::size_t from = std::max<std::size_t>(hidden.begin, begin) - begin;
      const std::size_t to = std::min<std::size_t>(hidden.end, begin + line.size()) - begin;
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(from), text.begin() + static_cast<std::ptrdiff_t>(to), '*');
    }
    return text;
  }

  void line(std::uint32_t id, std::uint32_t number, std::size_t focus) {
    ShownLine shown = show_line(line_text(id, number));
    clip(shown, shown.columns[std::min(focus, shown.columns.size() - 1)]);
    gutter(std::to_string(number));
    if (!shown.text.empty()) out_ += " " + shown.text;
    out_ += "\n";
  }

  void carets(std::uint32_t id, const Mark& mark) {
    ShownLine shown = show_line(line_text(id, mark.line));
    const std::size_t last = shown.columns.size() - 1;
    const std::size_t from = shown.columns[std::min(mark.begin, last)];
    const std::size_t to = std::max(shown.columns[std::min(mark.end, last)], from + 1);
    const std::size_t cut = clip(shown, from);
    const std::size_t length = std::min(to - from, kWidestLine - std::min(kWidestLine - 1, from - cut));
    gutter("");
    std::string drawing(length, mark.primary ? '^' : '-');
    if (!mark.text.empty()) drawing += " " + mark.text;
    out_ += " " + std::string(from - cut, ' ') +
            paint_(mark.primary ? colour_of(diagnostic_.severity) : kBlue, drawing) + "\n";
  }

  /// The lines of a span after its first, each with a bar; the middle of a long one is left out.
  std::uint32_t rest_of_span(std::uint32_t id, const Mark& mark, std::uint32_t shown) {
    const std::string bar = paint_(mark.primary ? colour_of(diagnostic_.severity) : kBlue, "|");
    for (std::uint32_t number = std::max(mark.line, shown) + 1; number <= mark.last_line; ++number) {
      if (mark.last_line - mark.line > kMostLinesOfSpan && number == mark.line + kMostLinesOfSpan / 2) {
        out_ += paint_(kBlue, "...") + "\n";
        number = mark.last_line - 1;
        continue;
      }
      ShownLine text = show_line(line_text(id, number));
      clip(text, 0);
      gutter(std::to_string(number));
      out_ += bar + text.text + "\n";
    }
    return mark.last_line;
  }

  void footer() {
    const std::string indent(width_, ' ');
    if (known(diagnostic_.span)) empty_line();
    const auto add = [&](std::string_view kind, std::string_view text) {
      out_ += indent + " " + paint_(kBlue, "=") + " " + paint_(kBold, kind) + ": " + printable(text) + "\n";
    };
    if (!diagnostic_.resource.empty()) {
      add("in", diagnostic_.field.empty() ? diagnostic_.resource : diagnostic_.resource + ", " + diagnostic_.field);
    }
    for (const std::string& note : diagnostic_.notes) add("note", note);
    if (!diagnostic_.fix.empty()) add("help", diagnostic_.fix);
  }

  const Diagnostic& diagnostic_;
  const SourceMap& sources_;
  Paint paint_;
  std::string out_;
  std::size_t width_ = 1;
};

}  // namespace

std::string render(const Diagnostic& diagnostic, const SourceMap& sources, Colour colour) {
  return Renderer(diagnostic, sources, Paint{.on = colour == Colour::kYes}).run();
}

}  // namespace edge
