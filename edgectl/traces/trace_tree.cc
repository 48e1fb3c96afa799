#include "edgectl/traces/trace_tree.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "edgectl/resources/table.h"

namespace edge::edgectl {
namespace {

constexpr std::size_t kBarWidth = 24;
/// Deeper spans stand below each other: a line stays readable.
constexpr std::size_t kMostDepth = 32;
constexpr std::size_t kMostLines = 5'000;
constexpr std::size_t kMostNameWidth = 60;
constexpr std::size_t kMostMessage = 120;
constexpr const char* kRed = "\x1b[31m";
constexpr const char* kCyan = "\x1b[36m";
constexpr const char* kDim = "\x1b[2m";
constexpr const char* kPlain = "\x1b[0m";

/// A span with its position in the tree.
struct Line {
  const TraceSpan* span = nullptr;
  std::string name;  ///< with the branches before it
  std::string note;
};

std::string cut_to(std::string_view text, std::size_t width) {
  std::string out = shown(text);
  if (width_of(out) <= width) return out;
  std::size_t end = 0;
  for (std::size_t columns = 0; end < out.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(out[end]) & 0xc0) != 0x80;
    if (begins && ++columns == width) break;
  }
  return out.substr(0, end) + "…";
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t has = width_of(text);
  return has < width ? std::move(text.append(width - has, ' ')) : text;
}

/// Orders spans for the page. Every span is listed once, whatever its parents: a span whose parent is missing begins a
/// tree, and so does the first of a cycle.
class Tree {
 public:
  explicit Tree(const Trace& trace) {
    std::vector<const TraceSpan*> order;
    for (const TraceSpan& span : trace.spans) order.push_back(&span);
    std::ranges::stable_sort(order, {}, &TraceSpan::start_us);
    std::set<std::string_view> ids;
    for (const TraceSpan* span : order) ids.insert(span->id);
    for (const TraceSpan* span : order) {
      if (!span->parent.empty() && ids.contains(span->parent)) children_[span->parent].push_back(span);
    }
    for (const TraceSpan* span : order) {
      const bool missing = !span->parent.empty() && !ids.contains(span->parent);
      if (span->parent.empty() || missing) walk(*span, missing ? "its parent is not here" : "");
    }
    for (const TraceSpan* span : order) {
      if (!placed_.contains(span)) walk(*span, "its parents form a ring");
    }
  }
  const std::vector<Line>& lines() const { return lines_; }

 private:
  struct Step {
    const TraceSpan* span;
    std::string prefix;  ///< before its own branch
    std::size_t depth;
    bool last;
  };

  /// Without recursion: a trace of 50,000 spans may be one chain.
  void walk(const TraceSpan& root, const std::string& note) {
    std::vector<Step> stack = {{&root, "", 0, true}};
    while (!stack.empty()) {
      const Step step = std::move(stack.back());
      stack.pop_back();
      if (!placed_.insert(step.span).second) continue;
      const bool is_root = step.depth == 0;
      const std::string branch = is_root ? "" : step.last ? "└─ " : "├─ ";
      lines_.push_back({step.span, step.prefix + branch + shown(step.span->operation), is_root ? note : ""});
      // They are the first's of that id: of 50,000 spans, half may have one id and the other half it as their parent.
      const auto found = children_.extract(step.span->id);
      if (found.empty()) continue;
      const bool deeper = step.depth < kMostDepth;
      const std::string below = is_root || !deeper ? step.prefix : step.prefix + (step.last ? "   " : "│  ");
      const auto& children = found.mapped();
      for (std::size_t i = children.size(); i-- > 0;) {
        stack.push_back({children[i], below, deeper ? step.depth + 1 : step.depth, i + 1 == children.size()});
      }
    }
  }

  std::unordered_map<std::string_view, std::vector<const TraceSpan*>> children_;
  std::set<const TraceSpan*> placed_;
  std::vector<Line> lines_;
};

/// Where in the trace a span lies: at least one cell.
std::string bar(const TraceSpan& span, const TraceSummary& whole) {
  const auto cell = [&](std::int64_t micros) {
    if (whole.duration_us <= 0) return std::size_t{0};
    const double share = static_cast<double>(micros) / static_cast<double>(whole.duration_us);
    return static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(kBarWidth));
  };
  const std::size_t begin = std::min(cell(span.start_us - whole.start_us), kBarWidth - 1);
  std::size_t end = std::max(cell(span.start_us - whole.start_us + span.duration_us), begin + 1);
  if (whole.duration_us <= 0) end = kBarWidth;
  std::string text;
  for (std::size_t i = 0; i < kBarWidth; ++i) text += i >= begin && i < end ? "█" : "·";
  return text;
}

std::string outcome(const TraceSpan& span) {
  std::string text = tag_of(span, {"http.response.status_code", "http.status_code", "rpc.grpc.status_code"});
  if (!span.failed) return shown(text);
  text += text.empty() ? "error" : " error";
  std::string why = span.message;
  if (why.empty()) why = tag_of(span, {"error.type", "edge.reason"});
  if (!why.empty()) text += ": " + why;
  return cut_to(text, kMostMessage);
}

std::string header(const Trace& trace, const TraceSummary& whole) {
  std::set<std::string> services;
  for (const TraceSpan& span : trace.spans) services.insert(span.service);
  std::string names;
  for (const std::string& service : services) names += (names.empty() ? "" : ", ") + shown(service);
  std::string spans = std::to_string(whole.spans);
  if (whole.errors > 0) spans += ", " + std::to_string(whole.errors) + " failed";
  if (trace.cut) spans += ", and some that are not here";
  return "Trace:     " + shown(trace.id) + "\nServices:  " + names + "\nStart:     " + time_text(whole.start_us) +
         "\nDuration:  " + span_duration(whole.duration_us) + "\nSpans:     " + spans + "\n\n";
}

}  // namespace

std::string trace_page(const Trace& trace, Colour colour) {
  const auto tint = [colour](const char* code) { return colour == Colour::kYes ? code : ""; };
  const TraceSummary whole = summary_of(trace);
  const Tree tree(trace);
  const std::size_t count = std::min(tree.lines().size(), kMostLines);
  std::size_t name_width = 4;
  std::size_t service_width = 7;
  for (std::size_t i = 0; i < count; ++i) {
    const Line& line = tree.lines()[i];
    name_width = std::max(name_width, width_of(line.name));
    service_width = std::max(service_width, width_of(line.span->service));
  }
  // Branches of a deep tree may take more than a name should.
  name_width = std::min(name_width, kMostNameWidth + kMostDepth);
  service_width = std::min(service_width, kMostNameWidth);
  constexpr std::size_t kTimes = 9;
  std::string out = header(trace, whole) + padded("SPAN", name_width) + "   " + padded("SERVICE", service_width) +
                    "   " + padded("START", kTimes) + "   " + padded("DURATION", kTimes) + "   " +
                    padded("TIMELINE", kBarWidth) + "   STATUS\n";
  for (std::size_t i = 0; i < count; ++i) {
    const Line& line = tree.lines()[i];
    const TraceSpan& span = *line.span;
    std::string status = outcome(span);
    if (!line.note.empty()) status += (status.empty() ? "(" : " (") + line.note + ")";
    std::string text = padded(cut_to(line.name, name_width), name_width) + "   " +
                       padded(cut_to(span.service, service_width), service_width) + "   " +
                       padded("+" + span_duration(span.start_us - whole.start_us), kTimes) + "   " +
                       padded(span_duration(span.duration_us), kTimes) + "   ";
    text.append(tint(span.failed ? kRed : kCyan)).append(bar(span, whole)).append(tint(kPlain));
    if (!status.empty()) text.append("   ").append(tint(span.failed ? kRed : kDim)).append(status).append(tint(kPlain));
    out += text + "\n";
  }
  if (count < tree.lines().size()) {
    out += "… and " + std::to_string(tree.lines().size() - count) + " more; -o json has all\n";
  }
  return out;
}

}  // namespace edge::edgectl
