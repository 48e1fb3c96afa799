#include "program/log_format.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace edge::program {
namespace {

using Kind = LogFormatFault::Kind;

struct Named {
  std::string_view name;
  bool in_json;
};
constexpr std::array<Named, kLogFields> kNamed = {{
    {"", false},
#define EDGE_LOG_FIELD(id, name, in_json) {name, in_json},
#include "program/log_fields.def"
#undef EDGE_LOG_FIELD
}};

/// As Apache has them. Who the user is, is between the client and his policy: `-`.
constexpr std::string_view kCommon =
    "%{client} - - [%{time_common}] \"%{method} %{target} %{protocol}\" %{status} %{bytes_out}";
constexpr std::string_view kCombined =
    "%{client} - - [%{time_common}] \"%{method} %{target} %{protocol}\" %{status} %{bytes_out} \"%{referer}\" "
    "\"%{user_agent}\"";

std::optional<LogField> find_field(std::string_view name) {
  const auto found =
      std::find_if(kNamed.begin() + 1, kNamed.end(), [&](const Named& named) { return named.name == name; });
  if (found == kNamed.end()) return std::nullopt;
  return static_cast<LogField>(found - kNamed.begin());
}

bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; }

LogFormatReading fault(Kind kind, std::size_t begin, std::size_t end) {
  LogFormatReading reading;
  reading.fault = LogFormatFault{kind, begin, end};
  return reading;
}

LogFormatReading read_template(std::string_view text) {
  LogFormatReading reading;
  const auto add_text = [&](std::size_t from, std::size_t to) {
    if (from != to) reading.pieces.push_back({LogField::kText, text.substr(from, to - from)});
  };
  std::size_t from = 0;
  for (std::size_t at = 0; (at = text.find('%', at)) != std::string_view::npos;) {
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (next == '%') {
      // The first of the two is the piece's end, the second is passed over.
      add_text(from, at + 1);
      from = at += 2;
      continue;
    }
    if (next != '{') return fault(Kind::kLonePercent, at, at + 1);
    const std::size_t end = text.find('}', at);
    if (end == std::string_view::npos) return fault(Kind::kOpen, at, text.size());
    const auto field = find_field(text.substr(at + 2, end - at - 2));
    if (!field) return fault(Kind::kUnknownField, at + 2, end);
    add_text(from, at);
    reading.pieces.push_back({*field});
    from = at = end + 1;
  }
  add_text(from, text.size());
  return reading;
}

}  // namespace

std::string_view log_field_name(LogField field) { return kNamed[static_cast<std::size_t>(field)].name; }

bool in_json(LogField field) { return kNamed[static_cast<std::size_t>(field)].in_json; }

std::vector<std::string_view> log_field_names() {
  std::vector<std::string_view> names;
  std::transform(kNamed.begin() + 1, kNamed.end(), std::back_inserter(names),
                 [](const Named& named) { return named.name; });
  return names;
}

LogFormatReading read_log_format(std::string_view text) {
  if (text == "json") return {.json = true};
  if (text == "common") return read_template(kCommon);
  if (text == "combined") return read_template(kCombined);
  if (text.size() > kMaxLogFormat) return fault(Kind::kTooLong, kMaxLogFormat, text.size());
  const auto control = std::ranges::find_if(text, is_control);
  if (control != text.end()) {
    const auto at = static_cast<std::size_t>(control - text.begin());
    return fault(Kind::kControlByte, at, at + 1);
  }
  if (text.find('%') == std::string_view::npos) return fault(Kind::kUnknownWord, 0, text.size());
  return read_template(text);
}

}  // namespace edge::program
