#include "agent/observe/access_log.h"

#include <sys/signalfd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <optional>
#include <string>

#include "base/units.h"
#include "daemon/debug_pages.h"

namespace edge::agent {
namespace {

using daemon::AdminReply;
using runtime::RecentQuery;

constexpr std::string_view kOff = "off";
constexpr std::uint64_t kMostKept = 1000;
/// Below this a file would be rotated with every few lines.
constexpr std::uint64_t kLeastSize = 4096;
constexpr std::uint64_t kMostLines = 10'000;

Error bad_flag(std::string_view flag, const std::string& value, std::string_view takes) {
  return {ErrorCode::kInvalidArgument,
          "--" + std::string(flag) + " takes " + std::string(takes) + ", not `" + value + "`"};
}

Result<runtime::LogFileOptions> file_options(const cli::Arguments& arguments) {
  runtime::LogFileOptions options;
  options.path = arguments.one("access-log");
  if (options.path == kOff) options.path.clear();
  const std::string size = arguments.one("access-log-max-size");
  const auto bytes = parse_size(size);
  if (!bytes || (*bytes != 0 && *bytes < kLeastSize))
    return bad_flag("access-log-max-size", size, "a size from 4Ki on, or 0");
  options.max_size = *bytes;
  const std::string keep = arguments.one("access-log-keep");
  const auto [end, fault] = std::from_chars(keep.data(), keep.data() + keep.size(), options.keep);
  if (fault != std::errc() || end != keep.data() + keep.size() || options.keep > kMostKept) {
    return bad_flag("access-log-keep", keep, "a number up to 1000");
  }
  return options;
}

/// Can be read once SIGHUP has come.
net::Fd hang_up_signals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGHUP);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return net::Fd(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

/// `404`, or `4xx`; nullopt: neither.
std::optional<int> status_of(std::string_view text) {
  if (text.size() != 3 || text[0] < '1' || text[0] > '5') return std::nullopt;
  if (text.substr(1) == "xx") return text[0] - '0';
  int status = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), status);
  return fault == std::errc() && end == text.data() + text.size() ? std::optional(status) : std::nullopt;
}

std::uint64_t unix_milliseconds_ago(std::chrono::nanoseconds ago) {
  const auto then = std::chrono::system_clock::now().time_since_epoch() - ago;
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(then).count()));
}

/// nullopt: a parameter is not what it has to be.
std::optional<RecentQuery> read_query(std::string_view text) {
  RecentQuery query;
  query.gateway = daemon::parameter(text, "gateway").value_or("");
  query.route = daemon::parameter(text, "route").value_or("");
  if (const auto status = daemon::parameter(text, "status"); status && !status->empty()) {
    const auto wanted = status_of(*status);
    if (!wanted) return std::nullopt;
    query.status = *wanted;
  }
  if (const auto since = daemon::parameter(text, "since"); since && !since->empty()) {
    const auto ago = parse_duration(*since);
    if (!ago) return std::nullopt;
    query.since_unix_milliseconds = unix_milliseconds_ago(*ago);
  }
  const auto limit = daemon::number_parameter(text, "limit", query.limit, kMostLines);
  if (!limit) return std::nullopt;
  query.limit = static_cast<std::size_t>(*limit);
  if (daemon::parameter(text, "after")) {
    query.after = daemon::number_parameter(text, "after", 0, ~std::uint64_t{0});
    if (!query.after) return std::nullopt;
  }
  return query;
}

}  // namespace

std::vector<cli::Flag> access_log_flags() {
  return {{.name = "access-log",
           .value = "PATH",
           .help = "File of the access logs that gateways have; `-`: standard output, `off`: only the latest lines, in "
                   "memory. SIGHUP reopens the file",
           .fallback = "-"},
          {.name = "access-log-max-size",
           .value = "SIZE",
           .help = "Size at which the file is rotated, such as 100Mi; 0: never",
           .fallback = "0"},
          {.name = "access-log-keep",
           .value = "N",
           .help = "Number of rotated files to keep, as PATH.1 to PATH.N",
           .fallback = "5"}};
}

Result<std::shared_ptr<runtime::AccessLog>> open_access_log(const cli::Arguments& arguments, const Logger& logger) {
  auto options = file_options(arguments);
  if (!options) return options.error();
  auto log = runtime::AccessLog::open(
      std::move(*options), [logger](const std::string& line) { logger.warn(line); }, hang_up_signals());
  if (!log) return log.error();
  return std::shared_ptr<runtime::AccessLog>(std::move(*log));
}

AdminReply recent_requests(const runtime::AccessLog& log, std::string_view query) {
  const auto wanted = read_query(query);
  if (!wanted) {
    return daemon::text_reply(
        400, "takes gateway=[NAMESPACE/]NAME, route=, status=404 or 4xx, since=5m, after=N, limit=N\n");
  }
  return {.content_type = "application/x-ndjson", .body = log.recent(*wanted)};
}

}  // namespace edge::agent
