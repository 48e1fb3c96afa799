#include "controller/traces/trace_flags.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/os/file.h"
#include "base/units.h"

namespace edge::traces {
namespace {

constexpr std::string_view kOff = "off";
constexpr const char* kOtlp = "otlp-listen";
constexpr const char* kQueries = "traces-listen";
constexpr const char* kSize = "traces-size";
constexpr const char* kAge = "traces-age";
constexpr const char* kOtlpToken = "otlp-token-file";
constexpr const char* kQueryToken = "traces-token-file";
constexpr std::size_t kMostToken = 4096;
constexpr std::size_t kLeastToken = 16;

Error refusal(const char* flag, const std::string& wanted, const cli::Arguments& arguments) {
  return {ErrorCode::kInvalidArgument,
          std::string("--") + flag + " takes " + wanted + ", not `" + arguments.one(flag) + "`"};
}

Status read_listen(const cli::Arguments& arguments, const char* flag, std::optional<TraceListen>& listen) {
  if (arguments.one(flag) == kOff) return {};
  listen = parse_trace_listen(arguments.one(flag));
  return listen ? Status() : refusal(flag, "ADDRESS:PORT, :PORT or off", arguments);
}

/// The token of `flag`, which is needed where `listen_flag` is not on loopback.
Status read_token(const cli::Arguments& arguments, const std::string& flag, const char* listen_flag,
                  const std::optional<TraceListen>& listen, std::string& token) {
  if (arguments.has(flag)) {
    auto text = read_file(arguments.one(flag), kMostToken);
    if (!text) return text.error();
    while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
    const bool plain = std::ranges::all_of(*text, [](char c) { return c > 0x20 && c < 0x7f; });
    if (!plain || text->size() < kLeastToken) {
      return Error{ErrorCode::kInvalidArgument,
                   "--" + flag + " takes a file with one line of 16 visible characters or more"};
    }
    token = std::move(*text);
  }
  if (!listen || is_loopback(*listen) || !token.empty()) return {};
  return Error{ErrorCode::kInvalidArgument, std::string("--") + listen_flag + " " + arguments.one(listen_flag) +
                                                " is beyond this machine: --" + flag + " is needed"};
}

}  // namespace

std::vector<cli::Flag> trace_flags() {
  return {
      {.name = kOtlp,
       .value = "ADDR",
       .help = "Address that receives traces, by OTLP over HTTP and gRPC; with port 0 the system chooses a port; "
               "`off`: none are received",
       .fallback = "127.0.0.1:4318"},
      {.name = kQueries,
       .value = "ADDR",
       .help = "Address that serves queries of stored traces to edgectl, Grafana and Jaeger's UI; `off`: not served",
       .fallback = "127.0.0.1:16686"},
      {.name = kOtlpToken,
       .value = "FILE",
       .help = "Bearer token required of senders of traces; required when --otlp-listen is not a loopback address"},
      {.name = kQueryToken,
       .value = "FILE",
       .help = "Bearer token required for queries of traces; required when --traces-listen is not a loopback address"},
      {.name = kSize,
       .value = "SIZE",
       .help = "Size limit of the trace store, which drops the oldest traces; at least 8Mi",
       .fallback = "256Mi"},
      {.name = kAge, .value = "DURATION", .help = "How long traces are stored", .fallback = "24h"}};
}

Result<TraceServerOptions> trace_server_options(const cli::Arguments& arguments, const std::string& data_dir,
                                                const Logger& log) {
  TraceServerOptions options;
  options.data_dir = data_dir;
  options.log = log;
  if (Status status = read_listen(arguments, kOtlp, options.otlp); !status) return status.error();
  if (Status status = read_listen(arguments, kQueries, options.queries); !status) return status.error();
  if (Status status = read_token(arguments, kOtlpToken, kOtlp, options.otlp, options.otlp_token); !status)
    return status.error();
  if (Status status = read_token(arguments, kQueryToken, kQueries, options.queries, options.query_token); !status)
    return status.error();
  const auto size = parse_size(arguments.one(kSize));
  if (!size || *size < kLeastTraceBytes) return refusal(kSize, "a size of at least 8Mi", arguments);
  const auto age = parse_duration(arguments.one(kAge));
  if (!age || *age < std::chrono::seconds(1)) return refusal(kAge, "a duration of at least 1s", arguments);
  options.limits.bytes = *size;
  options.limits.age_us = std::chrono::duration_cast<std::chrono::microseconds>(*age).count();
  return options;
}

Result<std::unique_ptr<TraceServer>> open_trace_server(const TraceServerOptions& options) {
  if (!options.otlp && !options.queries) return std::unique_ptr<TraceServer>();
  std::error_code error;
  namespace fs = std::filesystem;
  if (fs::create_directories(options.data_dir, error)) {
    fs::permissions(options.data_dir, fs::perms::owner_all, error);
  }
  auto server = TraceServer::start(options);
  if (!server) return server;
  if (!(*server)->otlp_url().empty()) options.log.info("receives traces on " + (*server)->otlp_url());
  if (!(*server)->query_url().empty()) options.log.info("serves queries of traces on " + (*server)->query_url());
  return server;
}

Result<std::unique_ptr<TraceServer>> start_trace_server(const cli::Arguments& arguments, const std::string& data_dir,
                                                        const Logger& log) {
  const auto options = trace_server_options(arguments, data_dir, log);
  if (!options) return options.error();
  auto server = open_trace_server(*options);
  if (server) return server;
  const bool asked_for = arguments.has(kOtlp) || arguments.has(kQueries);
  const bool may_be_done_without = server.error().code == ErrorCode::kUnavailable && !asked_for;
  if (!may_be_done_without && has_space(data_dir)) return server.error();
  log.warn("traces are not stored", {{"reason", server.error().text}});
  return std::unique_ptr<TraceServer>();
}

}  // namespace edge::traces
