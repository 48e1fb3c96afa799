// Formats log lines: text for people, JSON for machines. Their contents may come from a peer.
#include <array>
#include <cstdio>
#include <ctime>

#include "base/log.h"

namespace edge {
namespace {

constexpr std::array<std::string_view, 4> kLevels = {"debug", "info", "warn", "error"};
/// Of syslog(3): LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERR.
constexpr std::array<char, 4> kPriorities = {'7', '6', '4', '3'};
constexpr std::size_t kMostOfAText = 4096;
constexpr std::size_t kMostOfABlock = std::size_t{64} << 10;

void append_hex(std::string& out, const char* prefix, unsigned value) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%02x", value);
  out.append(prefix).append(text.data());
}

/// Bytes of the character that begins `text` (RFC 3629: no surrogates, nothing longer than it must be); 0: none does.
std::size_t character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return size;
}

/// U+0080 to U+009F: terminals take them for escape sequences.
bool is_c1(std::string_view text) { return text[0] == '\xC2' && static_cast<unsigned char>(text[1]) < 0xA0; }

enum class As : std::uint8_t { kText, kJson };

void append_escaped(std::string& out, std::string_view text, As as) {
  const bool json = as == As::kJson;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const auto byte = static_cast<unsigned char>(rest[0]);
    const std::size_t size = character(rest);
    if (size == 0) {
      json ? out.append("\\ufffd") : (append_hex(out, "\\x", byte), out);
    } else if (byte == '\n' || byte == '\t' || byte == '\r') {
      out.append(byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : "\\r");
    } else if (size == 1 && (byte < 0x20 || byte == 0x7F)) {
      append_hex(out, json ? "\\u00" : "\\x", byte);
    } else if (size == 2 && is_c1(rest)) {
      append_hex(out, json ? "\\u00" : "\\x", static_cast<unsigned char>(rest[1]));
    } else if (byte == '\\' || (json && byte == '"')) {
      out.append(1, '\\').append(1, rest[0]);
    } else {
      out.append(rest.substr(0, size));
    }
    i += size == 0 ? 1 : size;
  }
}

/// Cut where it is too long, and says so.
void append_bounded(std::string& out, std::string_view text, As as, std::size_t most = kMostOfAText) {
  append_escaped(out, text.substr(0, most), as);
  if (text.size() > most) out.append("...");
}

void append_value(std::string& out, std::string_view value) {
  const bool bare = !value.empty() && value.find_first_of(" =\"") == std::string_view::npos;
  if (bare) return append_bounded(out, value, As::kText);
  // As JSON has it: one rule for quotes, which every reader of such lines knows.
  out += '"';
  append_bounded(out, value, As::kJson);
  out += '"';
}

void append_member(std::string& out, std::string_view key, std::string_view value, std::size_t most = kMostOfAText) {
  out.append(out.size() == 1 ? "\"" : ",\"");
  append_bounded(out, key, As::kJson);
  out.append("\":\"");
  append_bounded(out, value, As::kJson, most);
  out += '"';
}

void append_sentence(std::string& out, const LogRecord& record) {
  append_bounded(out, record.text, As::kText);
  for (const LogField& field : record.fields) {
    out += ' ';
    append_bounded(out, field.key, As::kText);
    out += '=';
    append_value(out, field.value);
  }
}

/// Indented. Colours are the writer's: ESC stays, where it begins one (`ESC [ ... m`).
void append_block(std::string& out, std::string_view block, std::string_view before) {
  block = block.substr(0, kMostOfABlock);
  while (!block.empty()) {
    const std::size_t end = std::min(block.find('\n'), block.size());
    std::string_view line = block.substr(0, end);
    block.remove_prefix(std::min(end + 1, block.size()));
    out.append("\n").append(before);
    for (std::size_t escape = line.find("\x1b["); escape != std::string_view::npos; escape = line.find("\x1b[")) {
      const std::size_t last = line.find_first_not_of("0123456789;", escape + 2);
      append_escaped(out, line.substr(0, escape), As::kText);
      const bool colour = last != std::string_view::npos && line[last] == 'm';
      if (!colour) append_escaped(out, line.substr(escape, 2), As::kText);
      if (colour) out.append(line.substr(escape, last + 1 - escape));
      line.remove_prefix(colour ? last + 1 : escape + 2);
    }
    append_escaped(out, line, As::kText);
  }
}

}  // namespace

std::string_view to_string(LogLevel level) { return kLevels[static_cast<std::size_t>(level)]; }

std::optional<LogLevel> parse_log_level(std::string_view text) {
  for (std::size_t i = 0; i < kLevels.size(); ++i) {
    if (kLevels[i] == text) return static_cast<LogLevel>(i);
  }
  return std::nullopt;
}

std::string log_time(std::chrono::system_clock::time_point time) {
  const auto since = std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch());
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  const std::time_t whole = seconds.count();
  std::tm utc{};
  ::gmtime_r(&whole, &utc);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.tm_year + 1900, utc.tm_mon + 1,
                utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, static_cast<int>((since - seconds).count()));
  return text.data();
}

std::string log_line_text(const LogRecord& record, std::string_view program) {
  std::string line = log_time(record.time);
  line.append(" ").append(to_string(record.level)).append(" ").append(program).append(": ");
  append_sentence(line, record);
  append_block(line, record.block, "  ");
  return line;
}

std::string log_line_json(const LogRecord& record, std::string_view program) {
  std::string line = "{";
  append_member(line, "time", log_time(record.time));
  append_member(line, "level", to_string(record.level));
  append_member(line, "program", program);
  line.append(",\"seq\":").append(std::to_string(record.number));
  append_member(line, "msg", record.text);
  for (const LogField& field : record.fields) append_member(line, field.key, field.value);
  if (!record.block.empty()) append_member(line, "block", record.block, kMostOfABlock);
  line += '}';
  return line;
}

std::string log_line_journal(const LogRecord& record, LogFormat format, std::string_view program) {
  const std::string priority = {'<', kPriorities[static_cast<std::size_t>(record.level)], '>'};
  if (format == LogFormat::kJson) return priority + log_line_json(record, program);
  std::string line = priority;
  append_sentence(line, record);
  append_block(line, record.block, priority + "  ");
  return line;
}

}  // namespace edge
