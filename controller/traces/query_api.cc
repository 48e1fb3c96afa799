#include "controller/traces/query_api.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/units.h"
#include "controller/traces/jaeger.h"
#include "net/server/target.h"

namespace edge::traces {
namespace {

using net::server::FieldList;
using net::server::Reply;
using net::server::Request;

constexpr const char* kJsonType = "application/json";
constexpr std::size_t kDefaultLimit = 100;
constexpr std::size_t kMostTraces = 1500;
/// Of all traces of an answer together.
constexpr std::size_t kMostSpans = 50'000;
constexpr std::size_t kMostBytes = std::size_t{128} << 20;
constexpr std::size_t kMostTags = 32;
constexpr std::string_view kDefaultLookback = "1h";

std::string_view parameter(const FieldList& parameters, std::string_view name) {
  const auto found = std::ranges::find(parameters, name, &FieldList::value_type::first);
  return found == parameters.end() ? std::string_view() : std::string_view(found->second);
}

Error refusal(std::string_view name, std::string_view wanted) {
  return {ErrorCode::kInvalidArgument, "unable to parse param '" + std::string(name) + "': " + std::string(wanted)};
}

/// Leaves `value` as it is without the parameter.
template <typename Number>
Status read_number(const FieldList& parameters, std::string_view name, Number& value) {
  const std::string_view text = parameter(parameters, name);
  if (text.empty()) return {};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size()) return refusal(name, "it is a whole number");
  return {};
}

Status read_duration(const FieldList& parameters, std::string_view name, std::int64_t& micros) {
  const std::string_view text = parameter(parameters, name);
  if (text.empty()) return {};
  const auto duration = parse_duration(text);
  if (!duration) return refusal(name, "it is a duration such as 100ms or 1.2s");
  micros = std::chrono::duration_cast<std::chrono::microseconds>(*duration).count();
  return {};
}

/// `tags`, an object of JSON with text in it; `tag`, `key:value`, as often as one likes.
Status read_tags(const FieldList& parameters, TraceQuery& query) {
  for (const auto& [name, text] : parameters) {
    if (name == "tag") {
      const std::size_t colon = text.find(':');
      if (colon == 0 || colon == std::string::npos) return refusal("tag", "it is `key:value`");
      query.tags.emplace_back(text.substr(0, colon), text.substr(colon + 1));
    } else if (name == "tags" && !text.empty()) {
      const auto flat = [](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) { return depth <= 2; };
      const auto object = nlohmann::json::parse(text, flat, /*allow_exceptions=*/false);
      if (!object.is_object()) return refusal("tags", "it is an object of JSON with text in it");
      for (const auto& [key, value] : object.items()) {
        if (!value.is_string()) return refusal("tags", "it is an object of JSON with text in it");
        query.tags.emplace_back(key, value.get<std::string>());
      }
    }
    if (query.tags.size() > kMostTags) return refusal(name, "there are too many tags");
  }
  return {};
}

Reply fault(int status, std::string_view text, std::string_view trace = {}) {
  return {.status = status, .content_type = kJsonType, .body = fault_json(status, text, trace)};
}

Reply fault(const Error& error) {
  if (error.code == ErrorCode::kInvalidArgument) return fault(400, error.text);
  if (error.code == ErrorCode::kDeadlineExceeded) return fault(503, "the search took too long; narrow it");
  return fault(500, error.text);
}

Reply found(std::string body) { return {.content_type = kJsonType, .body = std::move(body)}; }

template <typename Value, typename Write>
Reply reported(const Result<Value>& result, const Write& write) {
  return result ? found(write(*result)) : fault(result.error());
}

}  // namespace

Result<TraceQuery> parse_trace_query(const FieldList& parameters, std::int64_t now_us) {
  TraceQuery query;
  query.service = parameter(parameters, "service");
  query.operation = parameter(parameters, "operation");
  query.end_us = now_us;
  query.limit = kDefaultLimit;
  if (!query.operation.empty() && query.service.empty()) return refusal("service", "an operation is a service's");
  // The UI says `custom` when it says where to start.
  std::string_view lookback = parameter(parameters, "lookback");
  if (lookback.empty() || lookback == "custom") lookback = kDefaultLookback;
  auto back = parse_duration(lookback);
  // Days, which Jaeger's UI offers, are no unit of Go's.
  if (!back && lookback.ends_with('d')) {
    back = parse_duration(std::string(lookback.substr(0, lookback.size() - 1)) + "h");
    if (back) *back *= 24;
  }
  if (!back) return refusal("lookback", "it is a duration such as 1h or 2d");
  if (Status status = read_number(parameters, "end", query.end_us); !status) return status.error();
  if (query.end_us < 0) return refusal("end", "it is microseconds since 1970");
  query.start_us = query.end_us - std::chrono::duration_cast<std::chrono::microseconds>(*back).count();
  if (Status status = read_number(parameters, "start", query.start_us); !status) return status.error();
  if (Status status = read_number(parameters, "limit", query.limit); !status) return status.error();
  if (query.limit == 0) return refusal("limit", "it is at least 1");
  query.limit = std::min(query.limit, kMostTraces);
  if (Status status = read_duration(parameters, "minDuration", query.least_us); !status) return status.error();
  if (Status status = read_duration(parameters, "maxDuration", query.most_us); !status) return status.error();
  if (query.least_us > query.most_us) return refusal("maxDuration", "it is no less than minDuration");
  if (Status status = read_tags(parameters, query); !status) return status.error();
  return query;
}

Reply QueryApi::answer(const Request& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    Reply refused = fault(405, "this API is read with GET");
    refused.fields.emplace_back("Allow", "GET, HEAD");
    return refused;
  }
  const auto path = net::server::decode_path(request.path);
  const auto parameters = net::server::decode_query(request.query);
  if (!path || !parameters) return fault(400, "the path or the query is malformed");
  return get(*path, *parameters);
}

Reply QueryApi::get(const std::string& path, const FieldList& parameters) {
  constexpr std::string_view kServices = "/api/services";
  constexpr std::string_view kTraces = "/api/traces";
  constexpr std::string_view kOperations = "/operations";
  if (path == kServices) return reported(reader_->services(), services_json);
  if (path.starts_with("/api/services/") && path.ends_with(kOperations)) {
    const std::string rest = path.substr(kServices.size() + 1);
    if (rest.size() <= kOperations.size()) return fault(404, "a service has a name");
    return reported(reader_->operations(rest.substr(0, rest.size() - kOperations.size()), ""), operation_names_json);
  }
  if (path == "/api/operations") {
    const std::string service(parameter(parameters, "service"));
    if (service.empty()) return fault(refusal("service", "it is required"));
    return reported(reader_->operations(service, std::string(parameter(parameters, "spanKind"))), operations_json);
  }
  if (path == kTraces) return search(parameters);
  if (path.starts_with("/api/traces/")) return trace(std::string_view(path).substr(kTraces.size() + 1));
  return fault(404, "there is nothing here; see /api/services and /api/traces");
}

Reply QueryApi::search(const FieldList& parameters) {
  std::vector<otlp::TraceId> ids;
  for (const auto& [name, text] : parameters) {
    if (name != "traceID") continue;
    const auto id = otlp::parse_trace_id(text);
    if (!id) return fault(refusal(name, "it is up to 32 hexadecimal digits"));
    ids.push_back(*id);
  }
  if (!ids.empty()) return load_all(ids);
  const auto query = parse_trace_query(parameters, clock_());
  if (!query) return fault(query.error());
  const auto list = reader_->find(*query);
  return list ? load_all(*list) : fault(list.error());
}

Reply QueryApi::load_all(const std::vector<otlp::TraceId>& ids) {
  std::vector<StoredTrace> traces;
  std::size_t spans = 0;
  std::size_t bytes = 0;
  for (const otlp::TraceId& id : ids) {
    if (spans >= kMostSpans || bytes >= kMostBytes) break;
    auto trace = reader_->load(id);
    if (!trace) return fault(trace.error());
    // One that was deleted since it was found is no fault.
    if (!*trace) continue;
    spans += (*trace)->spans.size();
    bytes += (*trace)->bytes;
    traces.push_back(std::move(**trace));
  }
  return found(traces_json(traces));
}

Reply QueryApi::trace(std::string_view text) {
  const auto id = otlp::parse_trace_id(text);
  if (!id) return fault(refusal("traceID", "it is up to 32 hexadecimal digits"));
  auto trace = reader_->load(*id);
  if (!trace) return fault(trace.error());
  if (!*trace) return fault(404, "trace not found", otlp::hex(*id));
  return found(traces_json(std::span(&**trace, 1)));
}

}  // namespace edge::traces
