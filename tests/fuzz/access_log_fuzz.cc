// Any bytes as the format of an access log, and as what clients put into its lines: a format is read or at fault within
// its bounds; whatever the format, an entry is one line without a control byte, where no text of a client has a quote
// of its own or shows a secret; in JSON it is an object.
//
// The first line is the format, what follows is cut into texts at zero bytes.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "program/log_format.h"
#include "runtime/observe/access_log/line.h"
#include "runtime/observe/access_log/notes.h"
#include "tests/fuzz/require.h"

using namespace edge;

namespace {

using runtime::LogText;
using runtime::Notes;

constexpr std::string_view kSecret = "hunter2-of-nobody";

std::ptrdiff_t quotes_of(std::string_view text) { return std::ranges::count(text, '"'); }

std::string_view take(std::string_view& rest) {
  const std::string_view text = rest.substr(0, rest.find('\0'));
  rest.remove_prefix(std::min(text.size() + 1, rest.size()));
  return text;
}

void check_reading(std::string_view text, const program::LogFormatReading& reading) {
  if (reading.fault) {
    require(reading.fault->begin <= reading.fault->end && reading.fault->end <= text.size());
    return;
  }
  require(reading.json == reading.pieces.empty() || text.empty());
  for (const program::LogPiece& piece : reading.pieces) {
    require((piece.field == program::LogField::kText) != piece.text.empty());
  }
}

void check_line(const std::string& line) {
  require(!line.empty() && line.find('\n') == line.size() - 1);
  for (const char c : std::string_view(line).substr(0, line.size() - 1)) {
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  }
  require(line.find(kSecret) == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view format_text = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(format_text.size() + 1, rest.size()));
  // A secret that stands in the bytes themselves is nobody's.
  if (rest.find("hunter2") != std::string_view::npos || format_text.find("hunter2") != std::string_view::npos) return 0;
  check_reading(format_text, program::read_log_format(format_text));

  const runtime::LogFormat format(format_text);
  const program::GatewayRecord gateway{};
  Notes notes(format, gateway);
  notes.keep(Notes::Text::kMethod, take(rest));
  notes.keep(Notes::Text::kHost, take(rest));
  notes.keep(Notes::Text::kPath, take(rest));
  const std::string secret = "access_token=" + std::string(kSecret);
  notes.keep(Notes::Text::kQuery, secret + "&" + std::string(take(rest)));
  notes.keep(Notes::Text::kReferer,
             "https://u:" + std::string(kSecret) + "@r/?" + secret + "&" + std::string(take(rest)));
  notes.keep(Notes::Text::kUserAgent, take(rest));

  runtime::LogEntry entry;
  entry.facts.format = &format;
  entry.facts.client = *parse_ip("2001:db8::7");
  entry[LogText::kMethod] = notes.text(Notes::Text::kMethod);
  entry[LogText::kHost] = notes.text(Notes::Text::kHost);
  entry[LogText::kPath] = notes.text(Notes::Text::kPath);
  entry[LogText::kQuery] = notes.text(Notes::Text::kQuery);
  entry[LogText::kReferer] = notes.text(Notes::Text::kReferer);
  entry[LogText::kUserAgent] = notes.text(Notes::Text::kUserAgent);
  entry[LogText::kServerName] = take(rest);
  entry[LogText::kRequestId] = take(rest);

  runtime::LineWriter writer;
  std::string line;
  writer.write(entry, line);
  check_line(line);
  if (!format.json()) {
    std::ptrdiff_t quotes = 0;
    for (const program::LogPiece& piece : format.pieces()) quotes += quotes_of(piece.text);
    require(quotes_of(line) == quotes);
  }
  std::string json;
  writer.write_json(entry, 7, json);
  check_line(json);
  const auto object = nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false);
  require(object.is_object() && object["seq"] == 7 && object["client"] == "2001:db8::7");
  return 0;
}
