#include "edgectl/observe/series.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

/// Prometheus writes `NaN`, `+Inf` and `-Inf` beside what from_chars takes.
std::optional<double> number_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text == "Inf") return std::numeric_limits<double>::infinity();
  if (text == "-Inf") return -std::numeric_limits<double>::infinity();
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `[time, "value"]`
void add_point(const Json& pair, Series& series) {
  if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number() || !pair[1].is_string()) return;
  if (const auto value = number_of(pair[1].get_ref<const std::string&>())) {
    series.points.push_back({pair[0].get<double>(), *value});
  }
}

Series series_of(const Json& item) {
  Series series;
  for (const auto& [name, value] : member_in(item, "metric").items()) {
    if (value.is_string()) series.labels[name] = value.get<std::string>();
  }
  add_point(member_in(item, "value"), series);
  for (const Json& pair : list_in(item, "values")) add_point(pair, series);
  return series;
}

/// Parses one line of the Prometheus text format from left to right.
class SampleLine {
 public:
  explicit SampleLine(std::string_view text) : rest_(text) {}

  std::optional<Series> read() {
    Series series;
    const std::size_t name_end = rest_.find_first_of("{ \t");
    if (name_end == std::string_view::npos || name_end == 0) return std::nullopt;
    series.labels["__name__"] = rest_.substr(0, name_end);
    rest_.remove_prefix(name_end);
    if (rest_.starts_with('{') && !read_labels(series.labels)) return std::nullopt;
    skip_blanks();
    const auto value = number_of(rest_.substr(0, rest_.find_first_of(" \t\r")));
    if (!value) return std::nullopt;
    series.points.push_back({0, *value});
    return series;
  }

 private:
  void skip_blanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t,"), rest_.size())); }

  bool read_labels(Labels& labels) {
    rest_.remove_prefix(1);
    for (;;) {
      skip_blanks();
      if (rest_.starts_with('}')) {
        rest_.remove_prefix(1);
        return true;
      }
      const std::size_t equals = rest_.find("=\"");
      if (equals == std::string_view::npos || equals == 0) return false;
      std::string& value = labels[std::string(rest_.substr(0, equals))];
      rest_.remove_prefix(equals + 2);
      if (!read_value(value)) return false;
    }
  }

  bool read_value(std::string& value) {
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        return true;
      }
      if (rest_[i] == '\\' && i + 1 < rest_.size()) {
        ++i;
        value += rest_[i] == 'n' ? '\n' : rest_[i];
      } else {
        value += rest_[i];
      }
    }
    return false;
  }

  std::string_view rest_;
};

}  // namespace

std::string_view Series::label(std::string_view name) const {
  const auto found = labels.find(name);
  return found == labels.end() ? std::string_view() : std::string_view(found->second);
}

Result<std::vector<Series>> read_prometheus(std::string_view json) {
  const Json answer = parse_json(json);
  if (!answer.is_object()) return Error{ErrorCode::kUnavailable, "the answer is none of Prometheus"};
  if (text_in(answer, "status") == "error") {
    return Error{ErrorCode::kInvalidArgument, text_in(answer, "errorType") + ": " + text_in(answer, "error")};
  }
  const Json& data = member_in(answer, "data");
  const Json& result = member_in(data, "result");
  if (!result.is_array()) return Error{ErrorCode::kUnavailable, "the answer is none of Prometheus"};
  std::vector<Series> all;
  const std::string& type = text_in(data, "resultType");
  if (type == "scalar" || type == "string") {
    add_point(result, all.emplace_back());
    return all;
  }
  for (const Json& item : result) {
    if (all.size() == kMostSeries) break;
    all.push_back(series_of(item));
  }
  return all;
}

std::vector<Series> read_exposition(std::string_view text, const std::vector<std::string_view>& wanted) {
  std::vector<Series> all;
  while (!text.empty() && all.size() < kMostSeries) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (std::ranges::none_of(wanted, [&](std::string_view name) { return line.starts_with(name); })) continue;
    if (auto series = SampleLine(line).read()) all.push_back(std::move(*series));
  }
  return all;
}

bool Selector::takes(const Series& series) const {
  if (series.label("__name__") != name) return false;
  return std::ranges::all_of(
      labels, [&](const Label& label) { return (series.label(label.name) == label.value) == label.equal; });
}

Result<Selector> read_selector(std::string_view text) {
  const auto blanks = [&text] {
    while (text.starts_with(' ')) text.remove_prefix(1);
  };
  const auto word = [&text] {
    std::size_t end = 0;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_' || text[end] == ':')) {
      ++end;
    }
    const std::string_view found = text.substr(0, end);
    text.remove_prefix(end);
    return std::string(found);
  };
  const auto take = [&](std::string_view what) {
    blanks();
    if (!text.starts_with(what)) return false;
    text.remove_prefix(what.size());
    return true;
  };
  const auto wrong = [&text] {
    return Error{ErrorCode::kInvalidArgument,
                 text.empty() ? std::string("the query ends too early")
                              : "the query is no series from `" + std::string(text.substr(0, 40)) + "` on"};
  };
  Selector selector;
  blanks();
  selector.name = word();
  if (selector.name.empty()) return wrong();
  if (take("{")) {
    while (!take("}")) {
      blanks();
      Selector::Label label{.name = word(), .equal = true, .value = {}};
      if (label.name.empty()) return wrong();
      label.equal = !take("!=");
      if (label.equal && (!take("=") || text.starts_with('~'))) return wrong();
      if (!take("\"")) return wrong();
      const std::size_t end = text.find_first_of("\"\\");
      if (end == std::string_view::npos || text[end] != '"') return wrong();
      label.value = text.substr(0, end);
      text.remove_prefix(end + 1);
      selector.labels.push_back(std::move(label));
      blanks();
      if (!text.starts_with('}') && !take(",")) return wrong();
    }
  }
  blanks();
  if (!text.empty()) return wrong();
  return selector;
}

}  // namespace edge::edgectl
