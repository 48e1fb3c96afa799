#include "daemon/logging.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "base/units.h"

namespace edge::daemon {
namespace {

constexpr std::size_t kMaxBody = std::size_t{1} << 20;
constexpr std::uint64_t kMaxLines = 10'000;
constexpr auto kFlushTime = std::chrono::seconds(1);

/// A duration back from now, or a time in RFC 3339.
std::optional<std::chrono::system_clock::time_point> time_of(std::string_view text) {
  if (const auto back = parse_duration(text)) {
    return std::chrono::system_clock::now() - std::chrono::duration_cast<std::chrono::system_clock::duration>(*back);
  }
  const auto seconds = parse_timestamp(text);
  if (!seconds) return std::nullopt;
  // Years 1 to 9999 do not all fit into the clock's nanoseconds; no line is from before 1970 or from later than now.
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()).time_since_epoch();
  const std::int64_t since = std::clamp<std::int64_t>(*seconds, 0, now.count() + 1);
  return std::chrono::system_clock::time_point(std::chrono::seconds(since));
}

std::optional<LogQuery> query_of(std::string_view text) {
  LogQuery query;
  if (const auto level = parameter(text, "level")) {
    const auto parsed = parse_log_level(*level);
    if (!parsed) return std::nullopt;
    query.least = *parsed;
  }
  if (const auto since = parameter(text, "since")) {
    query.since = time_of(*since);
    if (!query.since) return std::nullopt;
  }
  const auto after = number_parameter(text, "after", 0, std::numeric_limits<std::uint64_t>::max());
  const auto limit = number_parameter(text, "limit", kMaxLines, kMaxLines);
  const auto tail = number_parameter(text, "tail", kMaxLines, kMaxLines);
  if (!after || !limit || !tail) return std::nullopt;
  query.after = *after;
  query.limit = *limit;
  query.tail = *tail;
  return query;
}

/// JSON lines, oldest first; the last says how to go on. What does not fit is there for the next question.
AdminReply lines(const Log& log, const LogQuery& query) {
  const LogLines found = log.recent(query);
  AdminReply reply{.content_type = "application/x-ndjson"};
  std::uint64_t next = found.next;
  for (const auto& record : found.records) {
    std::string line = log_line_json(*record, log.program());
    if (reply.body.size() + line.size() >= kMaxBody) {
      next = record->number - 1;
      break;
    }
    reply.body.append(line).append("\n");
  }
  reply.body.append("{\"next\":").append(std::to_string(next));
  reply.body.append(",\"missed\":").append(std::to_string(found.missed)).append("}\n");
  return reply;
}

}  // namespace

std::vector<cli::Flag> log_flags() {
  return {{.name = "log-format",
           .value = "FORMAT",
           .help = "Format of log messages on stderr",
           .fallback = "text",
           .choices = {"text", "json"}},
          {.name = "log-level",
           .value = "LEVEL",
           .help = "Lowest level of messages that are logged; PUT /debug/log-level changes it at run time",
           .fallback = "info",
           .choices = {"debug", "info", "warn", "error"}}};
}

LogOptions log_options(std::string program, const cli::Arguments& arguments) {
  LogOptions options;
  options.program = std::move(program);
  options.format = arguments.one("log-format") == "json" ? LogFormat::kJson : LogFormat::kText;
  options.level = parse_log_level(arguments.one("log-level")).value_or(LogLevel::kInfo);
  return options;
}

void add_log_pages(DebugPages& pages, Log& log) {
  pages.add({"/debug/logs", "GET", "recent messages: ?level=, since=5m, tail=, and after=, limit= to go on",
             [&log](const AdminRequest& request) {
               const auto query = query_of(request.query);
               return query ? lines(log, *query)
                            : text_reply(400,
                                         "takes level=debug|info|warn|error, since=DURATION or RFC 3339, and "
                                         "numbers for after, limit and tail\n");
             }});
  pages.add({"/debug/log-level", "GET", "least important messages that are written",
             [&log](const AdminRequest&) { return text_reply(200, std::string(to_string(log.level())) + "\n"); }});
  pages.add({"/debug/log-level", "PUT", "?level=debug|info|warn|error", [&log](const AdminRequest& request) {
               const auto level = parse_log_level(parameter(request.query, "level").value_or(""));
               if (!level) return text_reply(400, "takes level=debug|info|warn|error\n");
               // Told at the less silent of the two levels, so that a log says why it became silent.
               log.set_level(std::min(log.level(), *level));
               log.write(LogLevel::kWarn, "the log's level was changed", {{"to", std::string(to_string(*level))}});
               log.set_level(*level);
               return text_reply(200, std::string(to_string(*level)) + "\n");
             }});
}

int failed(Log& log, const Error& error) {
  log.write(LogLevel::kError, error.text);
  log.flush(kFlushTime);
  return error.code == ErrorCode::kInvalidArgument ? cli::kExitUsage : cli::kExitFindings;
}

}  // namespace edge::daemon
