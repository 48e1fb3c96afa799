#include "runtime/observe/access_log/line.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <ctime>

#include "runtime/observe/access_log/copy.h"
#include "runtime/observe/access_log/destination.h"
#include "runtime/observe/access_log/escape.h"

namespace edge::runtime {
namespace {

using program::LogField;

/// What a field takes that is no text of the entry: the longest is an address with its port.
constexpr std::size_t kMostFigure = 64;
/// What a line of JSON takes but for the texts.
constexpr std::size_t kMostKeys = 0
#define EDGE_LOG_FIELD(id, name, in_json) +sizeof(",\"" name "\":\"\"") + kMostFigure
#include "program/log_fields.def"
#undef EDGE_LOG_FIELD
    ;

// Everything here writes to where there is room for it, and gives the end back.

char* write_number(std::uint64_t number, char* at) { return std::to_chars(at, at + 20, number).ptr; }

char* write_three_digits(std::uint64_t number, char* at) {
  at[0] = static_cast<char>('0' + number / 100 % 10);
  at[1] = static_cast<char>('0' + number / 10 % 10);
  at[2] = static_cast<char>('0' + number % 10);
  return at + 3;
}

/// Milliseconds to the microsecond.
char* write_milliseconds(std::int64_t nanoseconds, char* at) {
  const auto microseconds = static_cast<std::uint64_t>(nanoseconds) / 1000;
  at = write_number(microseconds / 1000, at);
  *at++ = '.';
  return write_three_digits(microseconds % 1000, at);
}

/// With leading zeros.
std::string padded(int number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

std::string_view protocol_text(LoggedProtocol protocol) {
  constexpr std::string_view kTexts[] = {"HTTP/1.0", "HTTP/1.1", "HTTP/2.0", "TCP", "TLS", "UDP"};
  return kTexts[static_cast<std::size_t>(protocol)];
}

std::string_view scheme_text(const LogFacts& facts) {
  if (facts.protocol >= LoggedProtocol::kTcp) return {};
  return facts.secure ? "https" : "http";
}

char* write_ip(const IpAddress& address, char* at) {
  if (!address.is_v4()) return copy_text(to_string(address), at);
  for (std::size_t i = 12; i < address.bytes.size(); ++i) {
    const unsigned part = address.bytes[i];
    if (part >= 100) *at++ = static_cast<char>('0' + part / 100);
    if (part >= 10) *at++ = static_cast<char>('0' + part / 10 % 10);
    *at++ = static_cast<char>('0' + part % 10);
    *at++ = '.';
  }
  return at - 1;
}

char* write_address(const net::SocketAddress& address, char* at) {
  const bool v6 = !address.address.is_v4();
  if (v6) *at++ = '[';
  at = write_ip(address.address, at);
  if (v6) *at++ = ']';
  *at++ = ':';
  return write_number(address.port, at);
}

[[gnu::always_inline]] inline std::int64_t duration_of(LogField field, const LogFacts& facts) {
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
[[gnu::always_inline]] inline std::string_view text_of(LogField field, const LogEntry& entry) {
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

/// Of the members of the entry's place.
constexpr bool in_place(LogField field) {
  return field == LogField::kGateway || field == LogField::kListener || field == LogField::kRoute ||
         field == LogField::kRule || field == LogField::kBackend || field == LogField::kCluster ||
         field == LogField::kClusterPriority || field == LogField::kClusterRegion;
}

/// What is written as text. Nothing: the entry has none. Of a known field nothing of the switches remains.
[[gnu::always_inline]] inline char* write_words(LogField field, const LogEntry& entry, LogEscape how, char* at) {
  const LogFacts& facts = entry.facts;
  switch (field) {
    case LogField::kClient:
      return write_ip(facts.client, at);
    case LogField::kTarget:
      at = write_escaped(entry[LogText::kPath], how, at);
      if (entry[LogText::kQuery].empty()) return at;
      *at++ = '?';
      return write_escaped(entry[LogText::kQuery], how, at);
    case LogField::kEndpoint:
      return facts.endpoint.port == 0 ? at : write_address(facts.endpoint, at);
    default:
      return write_escaped(text_of(field, entry), how, at);
  }
}

/// What is written as a number. Nothing: the field is none, or the entry has none.
[[gnu::always_inline]] inline char* write_figure(LogField field, const LogFacts& facts, char* at) {
  switch (field) {
    case LogField::kClientPort:
      return write_number(facts.client_port, at);
    case LogField::kStatus:
      return write_number(facts.status, at);
    case LogField::kBytesIn:
      return write_number(facts.received, at);
    case LogField::kBytesOut:
      return write_number(facts.sent, at);
    case LogField::kAttempts:
      return write_number(facts.attempts, at);
    case LogField::kHeadTime:
    case LogField::kPolicyTime:
    case LogField::kConnectTime:
    case LogField::kAnswerTime:
    case LogField::kTotalTime:
      return duration_of(field, facts) < 0 ? at : write_milliseconds(duration_of(field, facts), at);
    default:
      return at;
  }
}

/// With `key` before it: a comma, the name, and a colon. A field that the entry does not have is left out.
template <LogField field>
char* write_member(std::string_view key, const LogEntry& entry, char* at) {
  // They come together, as they are written already.
  if constexpr (field == LogField::kGateway) return copy_text(entry[LogText::kDestination], at);
  if constexpr (in_place(field)) return at;
  char* const value = copy_text(key, at);
  if (char* const end = write_figure(field, entry.facts, value); end != value) return end;
  *value = '"';
  char* const end = write_words(field, entry, LogEscape::kJson, value + 1);
  if (end == value + 1) return at;
  *end = '"';
  return end + 1;
}

std::size_t size_of_texts(const LogEntry& entry) {
  std::size_t size = 0;
  for (const std::string_view text : entry.texts) size += text.size();
  return size;
}

}  // namespace

LogFormat::LogFormat(std::string_view text) : text_(text), reading_(program::read_log_format(text_)) {
  if (reading_.fault) reading_ = {.json = true};
}

void LineWriter::write(const LogEntry& entry, std::string& out) {
  if (entry.facts.format->json()) return write_json(entry, std::nullopt, out);
  look_at_second(entry.facts.unix_milliseconds);
  // Of one field: as a template may name the same one often.
  const std::size_t most = size_of_texts(entry) * kMostEscaped + kMostFigure;
  char* at = line_.data();
  for (const program::LogPiece& one : entry.facts.format->pieces()) {
    at = room(at, most + one.text.size());
    at = piece(one, entry, at);
  }
  at = room(at, 1);
  *at++ = '\n';
  out.append(line_.data(), at);
}

char* LineWriter::piece(const program::LogPiece& piece, const LogEntry& entry, char* at) {
  if (piece.field == LogField::kText) return copy_text(piece.text, at);
  if (piece.field == LogField::kTime) return time(entry.facts.unix_milliseconds, at);
  if (piece.field == LogField::kTimeCommon) return copy_text(time_common_, at);
  if (in_place(piece.field)) {
    const std::string_view member =
        destination_member(entry[LogText::kDestination], program::log_field_name(piece.field));
    return copy_text(member.empty() ? "-" : member, at);
  }
  char* end = write_figure(piece.field, entry.facts, at);
  if (end == at) end = write_words(piece.field, entry, LogEscape::kPlain, at);
  // What is not there must not shift what follows.
  if (end == at) *end++ = '-';
  return end;
}

void LineWriter::write_json(const LogEntry& entry, std::optional<std::uint64_t> number, std::string& out) {
  look_at_second(entry.facts.unix_milliseconds);
  // Each text stands in a line once.
  char* at = room(line_.data(), kMostKeys + kMostFigure + size_of_texts(entry) * kMostEscaped);
  *at++ = '{';
  if (number) {
    at = copy_text("\"seq\":", at);
    at = write_number(*number, at);
    *at++ = ',';
  }
  at = copy_text("\"time\":\"", at);
  at = time(entry.facts.unix_milliseconds, at);
  *at++ = '"';
#define EDGE_LOG_FIELD(id, name, in_json)                   \
  if constexpr (in_json && LogField::id != LogField::kTime) \
    at = write_member<LogField::id>(",\"" name "\":", entry, at);
#include "program/log_fields.def"
#undef EDGE_LOG_FIELD
  at = copy_text("}\n", at);
  out.append(line_.data(), at);
}

char* LineWriter::room(char* at, std::size_t size) {
  const auto used = static_cast<std::size_t>(at - line_.data());
  if (line_.size() - used < size) line_.resize(std::max(used + size, 2 * line_.size()));
  return line_.data() + used;
}

// By hand: strftime follows the locale.
void LineWriter::look_at_second(std::uint64_t unix_milliseconds) {
  static constexpr std::string_view kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                 "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (unix_milliseconds / 1000 == second_) return;
  second_ = unix_milliseconds / 1000;
  const auto seconds = static_cast<std::time_t>(second_);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  const std::string year = padded(utc.tm_year + 1900, 4);
  const std::string day = padded(utc.tm_mday, 2);
  const std::string clock = padded(utc.tm_hour, 2) + ":" + padded(utc.tm_min, 2) + ":" + padded(utc.tm_sec, 2);
  time_ = year + "-" + padded(utc.tm_mon + 1, 2) + "-" + day + "T" + clock + ".";
  // As Apache writes it: 10/Oct/2000:13:55:36 +0000.
  time_common_ = day + "/" + std::string(kMonths[utc.tm_mon % 12]) + "/" + year + ":" + clock + " +0000";
}

// RFC 3339.
char* LineWriter::time(std::uint64_t unix_milliseconds, char* at) {
  at = copy_text(time_, at);
  at = write_three_digits(unix_milliseconds % 1000, at);
  *at++ = 'Z';
  return at;
}

}  // namespace edge::runtime
