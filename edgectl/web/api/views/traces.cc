#include "edgectl/web/api/views/traces.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/text/ascii.h"
#include "base/text/json.h"
#include "base/units.h"
#include "edgectl/agents/redact.h"
#include "edgectl/traces/find_source.h"
#include "net/server/target.h"

namespace edge::edgectl::web {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMostTraces = 500;
constexpr std::size_t kMostShownSpans = 5'000;
constexpr std::size_t kMostTag = 4'096;
constexpr std::int64_t kDefaultLookback = std::int64_t{3'600} * 1'000'000;

Error invalid(const std::string& name, const std::string& takes) {
  return {ErrorCode::kInvalidArgument, name + " takes " + takes};
}

Status read_one(const std::string& name, const std::string& value, TraceSearch& search) {
  if (name == "service") {
    search.service = value;
  } else if (name == "operation") {
    search.operation = value;
  } else if (name == "minDuration" || name == "maxDuration") {
    if (!parse_duration(value)) return invalid(name, "a duration such as 250ms");
    (name == "minDuration" ? search.least : search.most) = value;
  } else if (name == "lookback") {
    const auto back = parse_duration(value);
    if (!back) return invalid(name, "a duration such as 15m");
    search.start_us = search.end_us - std::chrono::duration_cast<std::chrono::microseconds>(*back).count();
  } else if (name == "tag") {
    const std::size_t equals = value.find('=');
    if (equals == 0 || equals == std::string::npos) return invalid(name, "key=value");
    search.tags.emplace_back(value.substr(0, equals), value.substr(equals + 1));
  } else if (name == "limit") {
    const char* const end = value.data() + value.size();
    const auto [stop, fault] = std::from_chars(value.data(), end, search.limit);
    if (fault != std::errc() || stop != end || search.limit == 0 || search.limit > kMostTraces)
      return invalid(name, "a number from 1 to 500");
  } else {
    return Error{ErrorCode::kInvalidArgument, "there is no parameter " + name};
  }
  return {};
}

OrderedJson tags_json(const TraceSpan& span) {
  nlohmann::json tags = nlohmann::json::object();
  for (const auto& [name, value] : span.tags) tags[name] = value.substr(0, kMostTag);
  // As the fields of an object's spec: by their names, and credentials in URLs.
  nlohmann::json object = {{"spec", std::move(tags)}};
  redact(object);
  OrderedJson list = OrderedJson::array();
  for (const auto& [name, value] : object["spec"].items()) {
    list.push_back({{"name", name}, {"value", text_value(value)}});
  }
  return list;
}

}  // namespace

Result<TraceSearch> read_trace_search(const std::string& query, std::int64_t now_us) {
  TraceSearch search;
  search.end_us = now_us;
  search.start_us = now_us - kDefaultLookback;
  search.limit = 100;
  const auto parameters = net::server::decode_query(query);
  if (!parameters) return Error{ErrorCode::kInvalidArgument, "the query cannot be read"};
  for (const auto& [name, value] : *parameters) {
    if (value.empty()) continue;
    if (Status status = read_one(name, value, search); !status) return status.error();
  }
  return search;
}

std::string trace_reply(const Trace& trace) {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  for (const TraceSpan& span : trace.spans) {
    if (begin == 0 || span.start_us < begin) begin = span.start_us;
    end = std::max(end, span.start_us + span.duration_us);
  }
  OrderedJson spans = OrderedJson::array();
  for (const TraceSpan& span : trace.spans) {
    if (spans.size() == kMostShownSpans) break;
    spans.push_back({{"id", span.id},
                     {"parent", span.parent},
                     {"service", span.service},
                     {"operation", span.operation},
                     {"kind", span.kind},
                     {"offsetMicros", span.start_us - begin},
                     {"durationMicros", span.duration_us},
                     {"error", span.failed},
                     {"message", span.message},
                     {"tags", tags_json(span)}});
  }
  const std::size_t left_out = trace.spans.size() - spans.size();
  return json_line(OrderedJson{{"traceID", trace.id},
                               {"start", time_text(begin)},
                               {"durationMicros", end - begin},
                               {"incomplete", trace.cut || left_out > 0},
                               {"leftOut", left_out},
                               {"spans", std::move(spans)}});
}

Result<TraceSource*> Traces::source() {
  if (!source_) {
    auto found = find_trace_source({}, {}, arguments_);
    if (!found) return found.error();
    source_.emplace(std::move(*found));
  }
  return &*source_;
}

Error Traces::forgotten(Error error) {
  if (error.code != ErrorCode::kNotFound && error.code != ErrorCode::kInvalidArgument) source_.reset();
  return error;
}

Result<std::string> Traces::search(const TraceSearch& search) {
  const auto store = source();
  if (!store) return store.error();
  const auto found = (*store)->search(search);
  if (!found) return forgotten(found.error());
  const auto services = (*store)->services();
  if (!services) return forgotten(services.error());
  OrderedJson traces = OrderedJson::array();
  for (const TraceSummary& trace : *found) traces.push_back(summary_json(trace));
  return json_line(OrderedJson{{"services", *services}, {"traces", std::move(traces)}});
}

Result<std::string> Traces::trace(const std::string& id) {
  if (id.size() > 32 || id.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
    return Error{ErrorCode::kNotFound, "a trace's id is up to 32 hexadecimal digits"};
  }
  const auto store = source();
  if (!store) return store.error();
  const auto found = (*store)->get(id);
  if (!found) return forgotten(found.error());
  return trace_reply(*found);
}

}  // namespace edge::edgectl::web
