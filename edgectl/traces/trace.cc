#include "edgectl/traces/trace.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <unordered_set>

#include <nlohmann/json.hpp>

namespace edge::edgectl {
namespace {

constexpr std::int64_t kMicrosInSecond = 1'000'000;
constexpr std::int64_t kMicrosInMilli = 1'000;

/// Two places behind the point, without zeros at its end.
std::string scaled(std::int64_t micros, std::int64_t unit, std::string_view name) {
  char text[48];
  std::snprintf(text, sizeof text, "%.2f", static_cast<double>(micros) / static_cast<double>(unit));
  std::string out(text);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.ends_with('.')) out.pop_back();
  return out.append(name);
}

}  // namespace

std::int64_t bounded_micros(std::int64_t micros) { return std::clamp<std::int64_t>(micros, 0, std::int64_t{1} << 53); }

void join(Trace& trace, Trace other) {
  if (trace.id.empty()) trace.id = other.id;
  trace.cut = trace.cut || other.cut;
  std::unordered_set<std::string> known;
  for (const TraceSpan& span : trace.spans) known.insert(span.id);
  for (TraceSpan& span : other.spans) {
    if (!known.insert(span.id).second) continue;
    if (trace.spans.size() >= kMostSpans) {
      trace.cut = true;
      return;
    }
    trace.spans.push_back(std::move(span));
  }
}

TraceSummary summary_of(const Trace& trace) {
  TraceSummary summary{.id = trace.id, .spans = static_cast<std::int64_t>(trace.spans.size()), .errors = 0};
  const TraceSpan* first = nullptr;
  std::int64_t end = 0;
  for (const TraceSpan& span : trace.spans) {
    // Clocks of several machines differ: a span without a parent comes before all that have one.
    const bool before = first == nullptr || (span.parent.empty() && !first->parent.empty()) ||
                        (span.parent.empty() == first->parent.empty() && span.start_us < first->start_us);
    if (before) first = &span;
    summary.start_us = summary.start_us == 0 ? span.start_us : std::min(summary.start_us, span.start_us);
    end = std::max(end, span.start_us + span.duration_us);
    summary.errors += span.failed ? 1 : 0;
  }
  if (first != nullptr) {
    summary.service = first->service;
    summary.operation = first->operation;
  }
  summary.duration_us = std::max<std::int64_t>(end - summary.start_us, 0);
  return summary;
}

std::string tag_of(const TraceSpan& span, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto found = std::ranges::find(span.tags, name, [](const auto& tag) { return std::string_view(tag.first); });
    if (found != span.tags.end()) return found->second;
  }
  return {};
}

nlohmann::ordered_json trace_json(const Trace& trace) {
  using OrderedJson = nlohmann::ordered_json;
  OrderedJson spans = OrderedJson::array();
  for (const TraceSpan& span : trace.spans) {
    OrderedJson tags = OrderedJson::object();
    for (const auto& [name, value] : span.tags) tags[name] = value;
    OrderedJson one{{"spanID", span.id}};
    if (!span.parent.empty()) one["parentSpanID"] = span.parent;
    one["service"] = span.service;
    one["operation"] = span.operation;
    if (!span.kind.empty()) one["kind"] = span.kind;
    one["startTime"] = time_text(span.start_us);
    one["durationMicros"] = span.duration_us;
    one["error"] = span.failed;
    if (!span.message.empty()) one["message"] = span.message;
    one["tags"] = std::move(tags);
    spans.push_back(std::move(one));
  }
  OrderedJson json{{"traceID", trace.id}, {"spans", std::move(spans)}};
  if (trace.cut) json["incomplete"] = true;
  return json;
}

nlohmann::ordered_json summary_json(const TraceSummary& summary) {
  nlohmann::ordered_json json{{"traceID", summary.id},
                              {"service", summary.service},
                              {"operation", summary.operation},
                              {"startTime", time_text(summary.start_us)},
                              {"durationMicros", summary.duration_us}};
  if (summary.spans >= 0) json["spans"] = summary.spans;
  if (summary.errors >= 0) json["errors"] = summary.errors;
  return json;
}

std::string time_text(std::int64_t micros) {
  const std::time_t seconds = micros / kMicrosInSecond;
  std::tm broken{};
  if (micros < 0 || ::gmtime_r(&seconds, &broken) == nullptr) return "-";
  std::array<char, 64> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &broken);
  std::array<char, 16> rest{};
  std::snprintf(rest.data(), rest.size(), ".%03dZ", static_cast<int>(micros % kMicrosInSecond / kMicrosInMilli));
  return std::string(text.data(), size) + rest.data();
}

std::string span_duration(std::int64_t micros) {
  if (micros < kMicrosInMilli) return std::to_string(std::max<std::int64_t>(micros, 0)) + "us";
  if (micros < kMicrosInSecond) return scaled(micros, kMicrosInMilli, "ms");
  return scaled(micros, kMicrosInSecond, "s");
}

}  // namespace edge::edgectl
