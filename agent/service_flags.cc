// The flags of a service, and what they say (service.h).
#include <charconv>
#include <chrono>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "agent/call_flags.h"
#include "agent/observe/access_log.h"
#include "agent/service.h"
#include "base/units.h"
#include "daemon/logging.h"
#include "program/values/endpoints.h"

namespace edge::agent {
namespace {

constexpr std::string_view kNotServed = "off";
constexpr std::size_t kLeastSeries = 1000;
constexpr std::size_t kMostSeries = 1'000'000;

Error bad_flag(std::string_view flag, const std::string& value, std::string_view takes) {
  return {ErrorCode::kInvalidArgument,
          "--" + std::string(flag) + " takes " + std::string(takes) + ", not `" + value + "`"};
}

}  // namespace

std::vector<cli::Flag> service_flags() {
  std::vector<cli::Flag> flags = {
      {.name = "threads", .value = "N", .help = "Worker threads; 0: one per core", .fallback = "0"},
      {.name = "metrics-listen",
       .value = "ADDR",
       .help = "Address of /metrics; with port 0 the system chooses a port; `off`: not served",
       .fallback = "127.0.0.1:9090"},
      {.name = "metrics-max-series",
       .value = "N",
       .help = "Approximate limit of the series of /metrics; above it they are aggregated",
       .fallback = "55000"},
      {.name = "health-listen",
       .value = "ADDR",
       .help = "Address of /healthz, /readyz and, if it is a loopback address, /debug/program; port 0 and `off` as for "
               "--metrics-listen",
       .fallback = "127.0.0.1:9091"},
      {.name = "zone",
       .value = "NAME",
       .help = "Zone of this machine: endpoints of the same zone are preferred; default: the label "
               "topology.kubernetes.io/zone of the agent, else of its Node"},
      {.name = "drain-timeout",
       .value = "DURATION",
       .help = "How long connections are drained after SIGTERM",
       .fallback = "30s"},
      {.name = "buffer-dir",
       .value = "DIR",
       .help = "Directory for buffered bodies that do not fit into memory; default: TMPDIR, or /tmp"},
      {.name = "upgrade-socket",
       .value = "PATH",
       .help = "Unix socket for hot restarts: take over from the process that listens on it, then listen on it for the "
               "next"},
      {.name = "ephemeral-ports", .help = "Let the system choose the port of every listener; for tests"}};
  for (cli::Flag& flag : call_flags()) flags.push_back(std::move(flag));
  for (cli::Flag& flag : access_file_flags()) flags.push_back(std::move(flag));
  for (cli::Flag& flag : span_export_flags()) flags.push_back(std::move(flag));
  for (cli::Flag& flag : daemon::log_flags()) flags.push_back(std::move(flag));
  for (cli::Flag& flag : access_log_flags()) flags.push_back(std::move(flag));
  return flags;
}

Result<ServiceOptions> service_options(std::shared_ptr<Log> log, const cli::Arguments& arguments) {
  ServiceOptions options;
  options.log = std::move(log);
  const std::string threads = arguments.one("threads");
  const auto [end, fault] = std::from_chars(threads.data(), threads.data() + threads.size(), options.server.threads);
  if (fault != std::errc() || end != threads.data() + threads.size() || options.server.threads > 1024) {
    return bad_flag("threads", threads, "a number up to 1024");
  }
  for (const auto& [flag, listen] :
       {std::pair{"metrics-listen", &options.metrics}, std::pair{"health-listen", &options.health}}) {
    const std::string text = arguments.one(flag);
    if (text == kNotServed) continue;
    *listen = daemon::parse_listen_address(text);
    if (!*listen) return bad_flag(flag, text, "ADDRESS:PORT, :PORT or off");
  }
  const std::string series = arguments.one("metrics-max-series");
  const auto parsed = std::from_chars(series.data(), series.data() + series.size(), options.max_series);
  if (parsed.ec != std::errc() || parsed.ptr != series.data() + series.size() || options.max_series < kLeastSeries ||
      options.max_series > kMostSeries) {
    return bad_flag("metrics-max-series", series, "a number from 1000 to 1000000");
  }
  options.server.max_tallied = options.max_series / 2;
  const auto drain = parse_duration(arguments.one("drain-timeout"));
  if (!drain) return bad_flag("drain-timeout", arguments.one("drain-timeout"), "a duration such as 30s");
  options.drain_timeout = *drain;
  if (arguments.has("zone")) options.server.zone = arguments.one("zone");
  if (!options.server.zone.empty() && !program::is_zone(options.server.zone)) {
    return bad_flag("zone", options.server.zone, "a name of at most 63 letters, digits, `-`, `_` and `.`");
  }
  options.server.ephemeral_ports = arguments.has("ephemeral-ports");
  if (arguments.has("buffer-dir")) options.server.buffer_directory = arguments.one("buffer-dir");
  if (Status status = read_call_flags(arguments, options.server); !status) return status.error();
  options.access_files = access_file_options(arguments);
  if (arguments.has("upgrade-socket")) options.upgrade_socket = arguments.one("upgrade-socket");
  auto access_log = open_access_log(arguments, options.log->logger());
  if (!access_log) return access_log.error();
  options.server.access_log = std::move(*access_log);
  auto traces = span_export_options(arguments);
  if (!traces) return traces.error();
  options.traces = std::move(*traces);
  return options;
}

}  // namespace edge::agent
