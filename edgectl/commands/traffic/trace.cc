// edgectl trace: queries traces of the embedded store, Jaeger or Tempo.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/os/file.h"
#include "base/text/json.h"
#include "base/units.h"
#include "cli/terminal.h"
#include "edgectl/commands.h"
#include "edgectl/exits.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/complete.h"
#include "edgectl/resources/output.h"
#include "edgectl/resources/table.h"
#include "edgectl/shared_flags.h"
#include "edgectl/traces/find_source.h"
#include "edgectl/traces/trace_source.h"
#include "edgectl/traces/trace_tree.h"

namespace edge::edgectl {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMostListed = 1'000;
constexpr std::size_t kMostToken = 4096;
constexpr std::int64_t kMicrosInSecond = 1'000'000;

int told_of_traces(std::string_view command, const Error& error) {
  cli::print_error(command, error.text);
  if (error.code == ErrorCode::kInvalidArgument) return cli::kExitUsage;
  return error.code == ErrorCode::kNotFound ? cli::kExitFindings : cli::kExitUnreachable;
}

Result<std::string> token_of(const cli::Arguments& arguments) {
  const std::string path = arguments.one("trace-token-file");
  if (path.empty()) return path;
  auto text = read_file(path, kMostToken);
  if (!text) return Error{ErrorCode::kInvalidArgument, text.error().text};
  while (text->ends_with('\n') || text->ends_with('\r')) text->pop_back();
  if (!std::ranges::all_of(*text, [](char c) { return c > 0x20 && c < 0x7f; })) {
    return Error{ErrorCode::kInvalidArgument, path + " holds no token"};
  }
  return text;
}

Result<TraceSource> source_of(const cli::Arguments& arguments) {
  const auto token = token_of(arguments);
  if (!token) return token.error();
  return find_trace_source(arguments.one("trace-endpoint"), *token, arguments);
}

int print_trace(const cli::Arguments& arguments, const OrderedJson& json, const std::string& table) {
  const std::string text = wants_data(arguments) ? data_text(arguments, indented_json(json)) : table;
  return cli::write_text(stdout, text) ? cli::kExitOk : cli::kExitFindings;
}

std::int64_t now_us() {
  using std::chrono::microseconds;
  return std::chrono::duration_cast<microseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Result<std::size_t> limit_of(const cli::Arguments& arguments) {
  const std::string text = arguments.one("limit");
  const bool digits = !text.empty() && text.size() <= 4 && text.find_first_not_of("0123456789") == std::string::npos;
  const std::size_t limit = digits ? std::stoul(text) : 0;
  if (limit == 0 || limit > kMostListed) {
    return Error{ErrorCode::kInvalidArgument, "--limit takes a number from 1 to 1000, not `" + text + "`"};
  }
  return limit;
}

int print_found(std::string_view command, const cli::Arguments& arguments, const TraceSearch& search) {
  const auto source = source_of(arguments);
  if (!source) return told_of_traces(command, source.error());
  const auto found = source->search(search);
  if (!found) return told_of_traces(command, found.error());
  OrderedJson list = OrderedJson::array();
  TextTable table({"TRACE ID", "SERVICE", "OPERATION", "START", "DURATION", "SPANS", "ERRORS"});
  const auto count = [](std::int64_t number) { return number < 0 ? std::string("-") : std::to_string(number); };
  for (const TraceSummary& trace : *found) {
    list.push_back(summary_json(trace));
    table.add({trace.id, trace.service, trace.operation, time_text(trace.start_us), span_duration(trace.duration_us),
               count(trace.spans), count(trace.errors)});
  }
  if (found->empty() && arguments.one("output") == "table") {
    cli::write_text(stderr, "no traces found\n");
    return cli::kExitOk;
  }
  return print_trace(arguments, list, table.take(/*with_heads=*/true));
}

/// Leaves `micros` as it is without the flag.
Status read_time(const cli::Arguments& arguments, const char* flag, std::int64_t& micros) {
  if (!arguments.has(flag)) return {};
  const auto seconds = parse_timestamp(arguments.one(flag));
  if (!seconds) {
    return Error{ErrorCode::kInvalidArgument, std::string("--") + flag +
                                                  " takes a time as RFC 3339 has it, e.g. 2026-01-31T12:00:00Z, not `" +
                                                  arguments.one(flag) + "`"};
  }
  micros = *seconds * kMicrosInSecond;
  return {};
}

Status read_duration(const cli::Arguments& arguments, const char* flag, std::string& text) {
  if (!arguments.has(flag)) return {};
  text = arguments.one(flag);
  if (parse_duration(text)) return {};
  return Error{ErrorCode::kInvalidArgument,
               std::string("--") + flag + " takes a duration, e.g. 250ms, not `" + text + "`"};
}

Result<TraceSearch> search_of(const cli::Arguments& arguments) {
  TraceSearch search;
  const auto limit = limit_of(arguments);
  if (!limit) return limit.error();
  search.limit = *limit;
  search.service = arguments.one("service");
  search.operation = arguments.one("operation");
  search.end_us = now_us();
  if (Status status = read_time(arguments, "end", search.end_us); !status) return status.error();
  search.start_us = search.end_us - 3'600 * kMicrosInSecond;
  if (Status status = read_time(arguments, "start", search.start_us); !status) return status.error();
  if (search.start_us > search.end_us) {
    return Error{ErrorCode::kInvalidArgument, "--start is after --end"};
  }
  if (Status status = read_duration(arguments, "min-duration", search.least); !status) return status.error();
  if (Status status = read_duration(arguments, "max-duration", search.most); !status) return status.error();
  for (const std::string& tag : arguments.all("tag")) {
    const std::size_t equals = tag.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return Error{ErrorCode::kInvalidArgument, "--tag takes key=value, not `" + tag + "`"};
    }
    search.tags.emplace_back(tag.substr(0, equals), tag.substr(equals + 1));
  }
  return search;
}

int trace_list(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl trace list";
  const auto limit = limit_of(arguments);
  if (!limit) return told_of_traces(kCommand, limit.error());
  const auto lookback = parse_duration(arguments.one("lookback"));
  if (!lookback)
    return usage(kCommand, "--lookback takes a duration, e.g. 1h, not `" + arguments.one("lookback") + "`");
  TraceSearch search;
  search.limit = *limit;
  search.end_us = now_us();
  search.start_us = search.end_us - std::chrono::duration_cast<std::chrono::microseconds>(*lookback).count();
  return print_found(kCommand, arguments, search);
}

int trace_search(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl trace search";
  const auto search = search_of(arguments);
  return search ? print_found(kCommand, arguments, *search) : told_of_traces(kCommand, search.error());
}

/// Adds what spokes have of a trace. What one does not say is told, and makes the exit code; the others are shown.
int join_spokes(const cli::Arguments& arguments, const std::string& id, const std::vector<std::string>& spokes,
                Trace& trace) {
  int exit = cli::kExitOk;
  for (const std::string& spoke : spokes) {
    const auto source = spoke_trace_source(spoke, arguments);
    auto theirs = source ? source->get(id) : Result<Trace>(source.error());
    if (theirs) {
      join(trace, std::move(*theirs));
    } else if (theirs.error().code == ErrorCode::kNotFound) {
      cli::print_message("edgectl", "cluster `" + spoke + "` has no span of it");
    } else {
      exit = std::max(exit, told_of_traces("edgectl trace get", theirs.error()));
    }
  }
  return exit;
}

int trace_get(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl trace get";
  const std::string id = arguments.one("TRACE-ID");
  if (id.empty() || id.size() > 32 || id.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
    return usage(kCommand, "a trace's id is up to 32 hexadecimal digits, not `" + id + "`");
  }
  const auto source = source_of(arguments);
  if (!source) return told_of_traces(kCommand, source.error());
  const auto own = source->get(id);
  const std::vector<std::string>& spokes = arguments.all("cluster");
  // A spoke may have what the hub was never sent.
  if (!own && (spokes.empty() || own.error().code != ErrorCode::kNotFound))
    return told_of_traces(kCommand, own.error());
  Trace trace = own ? *own : Trace();
  const int exit = join_spokes(arguments, id, spokes, trace);
  if (trace.spans.empty()) return std::max(exit, told_of_traces(kCommand, own.error()));
  return std::max(exit, print_trace(arguments, trace_json(trace), trace_page(trace, cli::colour_for(stdout))));
}

int trace_services(const cli::Arguments& arguments) {
  constexpr std::string_view kCommand = "edgectl trace services";
  const auto source = source_of(arguments);
  if (!source) return told_of_traces(kCommand, source.error());
  const auto services = source->services();
  if (!services) return told_of_traces(kCommand, services.error());
  TextTable table({"SERVICE"});
  for (const std::string& service : *services) table.add({service});
  return print_trace(arguments, *services, table.take(/*with_heads=*/true));
}

}  // namespace

namespace {

cli::Flag limit_flag() {
  return {.name = "limit", .value = "COUNT", .help = "Maximum number of traces", .fallback = "20"};
}

/// Where traces are asked for, and how they are printed.
std::vector<cli::Flag> trace_flags() {
  return joined(
      joined({{.name = "trace-endpoint",
               .value = "URL",
               .help = "Endpoint of the embedded store, Jaeger's query service, or Tempo (default: the context's, else "
                       "that of the controller in the administrator's credentials file, else http://127.0.0.1:16686)",
               .environment = "EDGECTL_TRACE_ENDPOINT"},
              {.name = "trace-token-file",
               .value = "FILE",
               .help = "Token for that endpoint",
               .environment = "EDGECTL_TRACE_TOKEN_FILE"}},
             controller_flags()),
      {form_flag({"table", "json", "yaml"})});
}

}  // namespace

cli::Command trace_list_command() {
  return {
      .name = "trace list",
      .group = kTrafficGroup,
      .summary = "List recent traces, the newest first",
      .flags = joined(
          {limit_flag(),
           {.name = "lookback", .value = "DURATION", .help = "How far back a trace may have begun", .fallback = "1h"}},
          trace_flags()),
      .examples = {"edgectl trace list --lookback 15m", "edgectl trace list --trace-endpoint http://tempo:3200"},
      .run = trace_list,
      .global = true};
}

cli::Command trace_get_command() {
  return {.name = "trace get",
          .group = kTrafficGroup,
          .summary = "Show a trace as a tree of spans with their times",
          .flags = joined({{.name = "cluster",
                            .value = "NAME",
                            .help = "Add the spans that this spoke of the hub has (its --hub-reads is `traces`)",
                            .repeatable = true,
                            .complete = complete_remote_cluster}},
                          trace_flags()),
          .positional = cli::Positional{.name = "TRACE-ID", .help = "Trace id, as lists and access logs show it"},
          .examples = {"edgectl trace get 4bf92f3577b34da6a3ce929d0e0e4736"},
          .run = trace_get,
          .global = true};
}

cli::Command trace_search_command() {
  return {
      .name = "trace search",
      .group = kTrafficGroup,
      .summary = "Search traces by their spans",
      .details = "A trace matches when one of its spans matches all flags. --start defaults to one hour before --end.",
      .flags =
          joined({{.name = "service", .value = "NAME", .help = "Service that made the span"},
                  {.name = "operation", .value = "NAME", .help = "Name of the span; of any service without --service"},
                  {.name = "start", .value = "TIME", .help = "Began at this time or later (RFC 3339)"},
                  {.name = "end", .value = "TIME", .help = "Began before this time (RFC 3339; default: now)"},
                  {.name = "min-duration", .value = "DURATION", .help = "Minimum duration"},
                  {.name = "max-duration", .value = "DURATION", .help = "Maximum duration"},
                  {.name = "tag", .value = "KEY=VALUE", .help = "Has this tag", .repeatable = true},
                  limit_flag()},
                 trace_flags()),
      .examples = {"edgectl trace search --service edge --tag http.status_code=503",
                   "edgectl trace search --min-duration 500ms --start 2026-01-31T12:00:00Z"},
      .run = trace_search,
      .global = true};
}

cli::Command trace_services_command() {
  return {.name = "trace services",
          .group = kTrafficGroup,
          .summary = "List services that sent traces",
          .flags = trace_flags(),
          .run = trace_services,
          .global = true};
}

}  // namespace edge::edgectl
