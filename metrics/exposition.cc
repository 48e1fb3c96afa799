#include "metrics/exposition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text/ascii.h"

namespace edge::metrics {
namespace {

constexpr std::string_view kOpenMetricsType = "application/openmetrics-text";
constexpr std::string_view kTotal = "_total";
constexpr std::string_view kInfo = "_info";
constexpr std::size_t kMaxNumber = 32;

/// 0 to 1000 (RFC 9110 §12.4.2). Malformed: as if none were given.
int weight_of(std::string_view parameters) {
  while (!parameters.empty()) {
    const std::string_view parameter = next_part(parameters, ';');
    if (!parameter.starts_with("q=")) continue;
    double value = 1;
    const auto [end, fault] = std::from_chars(parameter.data() + 2, parameter.data() + parameter.size(), value);
    return fault == std::errc() ? static_cast<int>(std::clamp(value, 0.0, 1.0) * 1000) : 1000;
  }
  return 1000;
}

void escape(std::string& out, std::string_view text, bool quotes) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

/// The name of a family in OpenMetrics, where what a sample ends with is no part of it.
std::string_view stem(const FamilyEntry& family) {
  std::string_view name = family.name;
  if (family.kind == Kind::kCounter && name.ends_with(kTotal)) name.remove_suffix(kTotal.size());
  if (family.kind == Kind::kInfo && name.ends_with(kInfo)) name.remove_suffix(kInfo.size());
  return name;
}

std::string_view type_text(Kind kind, Format format) {
  switch (kind) {
    case Kind::kCounter:
      return "counter";
    case Kind::kHistogram:
      return "histogram";
    case Kind::kInfo:
      return format == Format::kOpenMetrics ? "info" : "gauge";
    case Kind::kGauge:
      break;
  }
  return "gauge";
}

std::string_view unit_of(std::string_view stem) {
  for (const std::string_view unit : {"seconds", "bytes"}) {
    if (stem.ends_with(unit) && stem.size() > unit.size() && stem[stem.size() - unit.size() - 1] == '_') return unit;
  }
  return {};
}

std::string number(std::uint64_t value) {
  std::array<char, kMaxNumber> digits;
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

// The shortest that reads back as the same; with a point always, so that a bound is one series, whoever reads it.
std::string number(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, kMaxNumber> digits;
  std::string text(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

Format format_for(std::string_view accept) {
  int open_metrics = 0;
  int text = 0;
  while (!accept.empty()) {
    std::string_view parameters = next_part(accept, ',');
    const std::string_view type = next_part(parameters, ';');
    const int weight = weight_of(parameters);
    if (equals_ignoring_case(type, kOpenMetricsType)) open_metrics = std::max(open_metrics, weight);
    if (equals_ignoring_case(type, "text/plain")) text = std::max(text, weight);
  }
  return open_metrics > 0 && open_metrics >= text ? Format::kOpenMetrics : Format::kText;
}

std::string_view content_type(Format format) {
  return format == Format::kOpenMetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                        : "text/plain; version=0.0.4; charset=utf-8";
}

std::string labels(std::initializer_list<Label> list) {
  std::string text;
  for (const auto& [name, value] : list) {
    if (!text.empty()) text += ',';
    text.append(name).append("=\"");
    escape(text, value, true);
    text += '"';
  }
  return text;
}

void Exposition::begin(Family family) {
  family_ = &entry(family);
  const bool open = format_ == Format::kOpenMetrics;
  const std::string_view shown = open ? stem(*family_) : family_->name;
  text_.append("# HELP ").append(shown).append(" ");
  escape(text_, family_->help, open);
  text_.append("\n# TYPE ").append(shown).append(" ").append(type_text(family_->kind, format_)).append("\n");
  const std::string_view unit = unit_of(stem(*family_));
  if (open && !unit.empty()) text_.append("# UNIT ").append(shown).append(" ").append(unit).append("\n");
}

void Exposition::line(std::string_view suffix, std::string_view labels, std::string_view more, std::string_view value) {
  text_.append(family_->name).append(suffix);
  if (!labels.empty() || !more.empty()) {
    text_.append("{").append(labels);
    if (!labels.empty() && !more.empty()) text_ += ',';
    text_.append(more).append("}");
  }
  text_.append(" ").append(value).append("\n");
  ++series_;
}

void Exposition::sample(std::uint64_t value, std::string_view labels) { line({}, labels, {}, number(value)); }

void Exposition::sample(double value, std::string_view labels) { line({}, labels, {}, number(value)); }

void Exposition::histogram(const HistogramView& histogram, std::string_view labels, std::size_t every) {
  std::uint64_t total = 0;
  const auto bucket = [&](double bound) { line("_bucket", labels, "le=\"" + number(bound) + "\"", number(total)); };
  const std::size_t bounds = histogram.bounds.size();
  for (std::size_t i = 0; i < bounds; ++i) {
    total += histogram.counts[i];
    if (every != 0 && (bounds - 1 - i) % every == 0) bucket(histogram.bounds[i]);
  }
  total += histogram.counts[bounds];
  bucket(INFINITY);
  line("_sum", labels, {}, number(histogram.sum));
  line("_count", labels, {}, number(total));
}

std::string Exposition::finish() {
  if (format_ == Format::kOpenMetrics) text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace edge::metrics
