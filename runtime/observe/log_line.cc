#include "runtime/observe/log_line.h"

#include <array>
#include <charconv>

#include "runtime/observe/log_escape.h"

namespace edge::runtime {
namespace {

using program::LogField;

void append_number(std::uint64_t number, std::string& out) {
  std::array<char, 20> digits;
  const auto [end, fault] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  out.append(digits.data(), end);
}

/// With leading zeros.
void append_padded(std::uint64_t number, int digits, std::string& out) {
  std::array<char, 20> text;
  for (int i = digits; i > 0; --i, number /= 10)
    text[static_cast<std::size_t>(i - 1)] = static_cast<char>('0' + number % 10);
  out.append(text.data(), static_cast<std::size_t>(digits));
}

/// Milliseconds to the microsecond.
void append_milliseconds(std::int64_t nanoseconds, std::string& out) {
  const auto microseconds = static_cast<std::uint64_t>(nanoseconds) / 1000;
  append_number(microseconds / 1000, out);
  out.push_back('.');
  append_padded(microseconds % 1000, 3, out);
}

std::string_view protocol_text(LoggedProtocol protocol) {
  constexpr std::string_view kTexts[] = {"HTTP/1.0", "HTTP/1.1", "HTTP/2.0", "TCP", "TLS"};
  return kTexts[static_cast<std::size_t>(protocol)];
}

std::string_view scheme_text(const LogFacts& facts) {
  if (facts.protocol >= LoggedProtocol::kTcp) return {};
  return facts.secure ? "https" : "http";
}

void append_address(const net::SocketAddress& address, std::string& out) {
  const std::string text = to_string(address.address);
  const bool v6 = !address.address.is_v4();
  out.append(v6 ? "[" : "").append(text).append(v6 ? "]:" : ":");
  append_number(address.port, out);
}

std::int64_t duration_of(LogField field, const LogFacts& facts) {
  switch (field) {
    case LogField::kHeadTime:
      return facts.head;
    case LogField::kPolicyTime:
      return facts.policies;
    case LogField::kConnectTime:
      return facts.connect;
    case LogField::kAnswerTime:
      return facts.answer;
    default:
      return facts.total;
  }
}

/// Of the fields that are one text.
std::string_view text_of(LogField field, const LogEntry& entry) {
  switch (field) {
    case LogField::kMethod:
      return entry[LogText::kMethod];
    case LogField::kScheme:
      return scheme_text(entry.facts);
    case LogField::kHost:
      return entry[LogText::kHost];
    case LogField::kPath:
      return entry[LogText::kPath];
    case LogField::kQuery:
      return entry[LogText::kQuery];
    case LogField::kProtocol:
      return protocol_text(entry.facts.protocol);
    case LogField::kReason:
      return entry[LogText::kReason];
    case LogField::kListener:
      return entry[LogText::kListener];
    case LogField::kTlsVersion:
      return entry[LogText::kTlsVersion];
    case LogField::kTlsCipher:
      return entry[LogText::kTlsCipher];
    case LogField::kServerName:
      return entry[LogText::kServerName];
    case LogField::kRequestId:
      return entry[LogText::kRequestId];
    case LogField::kTraceId:
      return entry[LogText::kTraceId];
    case LogField::kReferer:
      return entry[LogText::kReferer];
    case LogField::kUserAgent:
      return entry[LogText::kUserAgent];
    default:
      return {};
  }
}

void append_named(std::string_view space, std::string_view name, LogEscape how, std::string& out) {
  if (name.empty()) return;
  append_escaped(space, how, out);
  out.push_back('/');
  append_escaped(name, how, out);
}

/// What is written as text. Nothing: the entry has none.
void append_text(LogField field, const LogEntry& entry, LogEscape how, std::string& out) {
  const LogFacts& facts = entry.facts;
  switch (field) {
    case LogField::kClient:
      out.append(to_string(facts.client));
      return;
    case LogField::kTarget:
      append_escaped(entry[LogText::kPath], how, out);
      if (entry[LogText::kQuery].empty()) return;
      out.push_back('?');
      append_escaped(entry[LogText::kQuery], how, out);
      return;
    case LogField::kGateway:
      return append_named(entry[LogText::kGatewaySpace], entry[LogText::kGateway], how, out);
    case LogField::kRoute:
      return append_named(entry[LogText::kRouteSpace], entry[LogText::kRoute], how, out);
    case LogField::kBackend:
      return append_named(entry[LogText::kBackendSpace], entry[LogText::kBackend], how, out);
    case LogField::kEndpoint:
      if (facts.endpoint.port != 0) append_address(facts.endpoint, out);
      return;
    default:
      return append_escaped(text_of(field, entry), how, out);
  }
}

/// What is written as a number. \returns false when the field is none, or the entry has none.
bool append_figure(LogField field, const LogFacts& facts, std::string& out) {
  switch (field) {
    case LogField::kClientPort:
      append_number(facts.client_port, out);
      return true;
    case LogField::kStatus:
      append_number(facts.status, out);
      return true;
    case LogField::kBytesIn:
      append_number(facts.received, out);
      return true;
    case LogField::kBytesOut:
      append_number(facts.sent, out);
      return true;
    case LogField::kAttempts:
      append_number(facts.attempts, out);
      return true;
    case LogField::kRule:
      if (facts.rule == program::kNone) return false;
      append_number(facts.rule, out);
      return true;
    case LogField::kHeadTime:
    case LogField::kPolicyTime:
    case LogField::kConnectTime:
    case LogField::kAnswerTime:
    case LogField::kTotalTime:
      if (duration_of(field, facts) < 0) return false;
      append_milliseconds(duration_of(field, facts), out);
      return true;
    default:
      return false;
  }
}

}  // namespace

LogFormat::LogFormat(std::string_view text) : text_(text), reading_(program::read_log_format(text_)) {
  if (reading_.fault) reading_ = {.json = true};
}

void LineWriter::write(const LogEntry& entry, std::string& out) {
  if (entry.facts.format->json()) return write_json(entry, std::nullopt, out);
  for (const program::LogPiece& one : entry.facts.format->pieces()) piece(one, entry, out);
  out.push_back('\n');
}

void LineWriter::piece(const program::LogPiece& piece, const LogEntry& entry, std::string& out) {
  const std::size_t before = out.size();
  if (piece.field == LogField::kText) {
    out.append(piece.text);
  } else if (piece.field == LogField::kTime) {
    time(entry.facts.unix_milliseconds, out);
  } else if (piece.field == LogField::kTimeCommon) {
    time_common(entry.facts.unix_milliseconds, out);
  } else if (!append_figure(piece.field, entry.facts, out)) {
    append_text(piece.field, entry, LogEscape::kPlain, out);
  }
  // What is not there must not shift what follows.
  if (out.size() == before) out.push_back('-');
}

// A field that an entry does not have is left out.
void LineWriter::write_json(const LogEntry& entry, std::optional<std::uint64_t> number, std::string& out) {
  out.push_back('{');
  if (number) {
    out.append("\"seq\":");
    append_number(*number, out);
    out.push_back(',');
  }
  out.append("\"time\":\"");
  time(entry.facts.unix_milliseconds, out);
  out.push_back('"');
  for (std::size_t i = 1; i < program::kLogFields; ++i) {
    const auto field = static_cast<LogField>(i);
    if (!program::in_json(field) || field == LogField::kTime) continue;
    const std::size_t before = out.size();
    out.append(",\"").append(program::log_field_name(field)).append("\":");
    const std::size_t value = out.size();
    if (append_figure(field, entry.facts, out)) continue;
    out.push_back('"');
    append_text(field, entry, LogEscape::kJson, out);
    if (out.size() == value + 1) {
      out.resize(before);
    } else {
      out.push_back('"');
    }
  }
  out.append("}\n");
}

const std::tm& LineWriter::second_of(std::uint64_t unix_milliseconds) {
  if (unix_milliseconds / 1000 == second_) return utc_;
  second_ = unix_milliseconds / 1000;
  const auto seconds = static_cast<std::time_t>(second_);
  ::gmtime_r(&seconds, &utc_);
  return utc_;
}

// RFC 3339, by hand: strftime follows the locale.
void LineWriter::time(std::uint64_t unix_milliseconds, std::string& out) {
  const std::tm& utc = second_of(unix_milliseconds);
  append_padded(static_cast<std::uint64_t>(utc.tm_year) + 1900, 4, out);
  out.push_back('-');
  append_padded(static_cast<std::uint64_t>(utc.tm_mon) + 1, 2, out);
  out.push_back('-');
  append_padded(static_cast<std::uint64_t>(utc.tm_mday), 2, out);
  out.push_back('T');
  append_padded(static_cast<std::uint64_t>(utc.tm_hour), 2, out);
  out.push_back(':');
  append_padded(static_cast<std::uint64_t>(utc.tm_min), 2, out);
  out.push_back(':');
  append_padded(static_cast<std::uint64_t>(utc.tm_sec), 2, out);
  out.push_back('.');
  append_padded(unix_milliseconds % 1000, 3, out);
  out.push_back('Z');
}

// As Apache writes it: 10/Oct/2000:13:55:36 +0000.
void LineWriter::time_common(std::uint64_t unix_milliseconds, std::string& out) {
  static constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::tm& utc = second_of(unix_milliseconds);
  append_padded(static_cast<std::uint64_t>(utc.tm_mday), 2, out);
  out.append("/").append(kMonths[utc.tm_mon % 12]).append("/");
  append_padded(static_cast<std::uint64_t>(utc.tm_year) + 1900, 4, out);
  out.push_back(':');
  append_padded(static_cast<std::uint64_t>(utc.tm_hour), 2, out);
  out.push_back(':');
  append_padded(static_cast<std::uint64_t>(utc.tm_min), 2, out);
  out.push_back(':');
  append_padded(static_cast<std::uint64_t>(utc.tm_sec), 2, out);
  out.append(" +0000");
}

}  // namespace edge::runtime
