#include "edgectl/traces/trace_source.h"

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/resources/table.h"
#include "edgectl/traces/answers.h"
#include "net/client/query_text.h"

namespace edge::edgectl {
namespace {

constexpr const char* kJson = "application/json";
constexpr const char* kServices = "/api/services";
constexpr const char* kTempoTags = "/api/search/tags";
constexpr std::int64_t kMicrosOfSecond = 1'000'000;
/// Jaeger is asked for one service at a time.
constexpr std::size_t kMostServices = 50;

std::string encoded(std::string_view text) { return net::client::url_encoded(text); }

Error odd(const char* target, const Fetched& answer, std::string_view why) {
  std::string text = std::string(target) + " answered " + std::to_string(answer.status);
  if (!why.empty()) text.append(", ").append(shown(why));
  return {ErrorCode::kUnavailable, std::move(text)};
}

/// As logfmt, which Tempo reads, writes a value.
std::string quoted(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string jaeger_target(const TraceSearch& search, const std::string& service) {
  std::string target = "/api/traces?service=" + encoded(service);
  if (!search.operation.empty()) target += "&operation=" + encoded(search.operation);
  target += "&lookback=custom&start=" + std::to_string(search.start_us) + "&end=" + std::to_string(search.end_us) +
            "&limit=" + std::to_string(search.limit);
  if (!search.least.empty()) target += "&minDuration=" + encoded(search.least);
  if (!search.most.empty()) target += "&maxDuration=" + encoded(search.most);
  if (!search.tags.empty()) {
    nlohmann::ordered_json tags = nlohmann::ordered_json::object();
    for (const auto& [name, value] : search.tags) tags[name] = value;
    target += "&tags=" + encoded(json_line(tags));
  }
  return target;
}

std::string tempo_target(const TraceSearch& search) {
  std::string tags;
  const auto add = [&](std::string_view name, std::string_view value) {
    tags.append(tags.empty() ? "" : " ").append(name).append("=").append(quoted(value));
  };
  if (!search.service.empty()) add("service.name", search.service);
  if (!search.operation.empty()) add("name", search.operation);
  for (const auto& [name, value] : search.tags) add(name, value);
  // Whole seconds, the last of them included.
  std::string target = "/api/search?start=" + std::to_string(search.start_us / kMicrosOfSecond) +
                       "&end=" + std::to_string(search.end_us / kMicrosOfSecond + 1) +
                       "&limit=" + std::to_string(search.limit);
  if (!tags.empty()) target += "&tags=" + encoded(tags);
  if (!search.least.empty()) target += "&minDuration=" + encoded(search.least);
  if (!search.most.empty()) target += "&maxDuration=" + encoded(search.most);
  return target;
}

void newest_first(std::vector<TraceSummary>& found, std::size_t limit) {
  std::ranges::stable_sort(found, std::greater(), &TraceSummary::start_us);
  if (found.size() > limit) found.resize(limit);
}

}  // namespace

Result<TraceSource> TraceSource::recognise(Fetch fetch) {
  const auto jaeger = fetch(kServices, kJson);
  if (!jaeger) return jaeger.error();
  if (jaeger->status == 200 && jaeger_names(jaeger->body)) return TraceSource(std::move(fetch), Api::kJaeger);
  const auto tempo = fetch(kTempoTags, kJson);
  if (!tempo) return tempo.error();
  if (tempo->status == 200 && tempo_names(tempo->body, "tagNames")) return TraceSource(std::move(fetch), Api::kTempo);
  return Error{ErrorCode::kUnavailable, "neither Jaeger's API nor Tempo's is there: " +
                                            odd(kServices, *jaeger, "").text + ", " + odd(kTempoTags, *tempo, "").text};
}

Result<std::vector<std::string>> TraceSource::services() const {
  const bool jaeger = api_ == Api::kJaeger;
  const char* const target = jaeger ? kServices : "/api/search/tag/service.name/values";
  const auto answer = fetch_(target, kJson);
  if (!answer) return answer.error();
  auto names = jaeger ? jaeger_names(answer->body) : tempo_names(answer->body, "tagValues");
  if (answer->status != 200 || !names) return odd(target, *answer, "no list of services");
  std::ranges::sort(*names);
  return std::move(*names);
}

Result<std::vector<TraceSummary>> TraceSource::search(const TraceSearch& search) const {
  auto found = api_ == Api::kJaeger ? search_jaeger(search) : search_tempo(search);
  if (found) newest_first(*found, search.limit);
  return found;
}

Result<std::vector<TraceSummary>> TraceSource::search_jaeger(const TraceSearch& search) const {
  std::vector<std::string> services = {search.service};
  if (search.service.empty()) {
    auto all = this->services();
    if (!all) return all.error();
    services = std::move(*all);
    if (services.size() > kMostServices) services.resize(kMostServices);
  }
  // A trace with spans of several services is found by each.
  std::map<std::string, TraceSummary> found;
  for (const std::string& service : services) {
    const auto answer = fetch_(jaeger_target(search, service), kJson);
    if (!answer) return answer.error();
    const auto traces = answer->status == 200 ? jaeger_traces(answer->body) : std::nullopt;
    if (!traces) return odd("/api/traces", *answer, jaeger_fault(answer->body));
    for (const Trace& trace : *traces) found.try_emplace(trace.id, summary_of(trace));
  }
  std::vector<TraceSummary> list;
  for (auto& [id, summary] : found) list.push_back(std::move(summary));
  return list;
}

Result<std::vector<TraceSummary>> TraceSource::search_tempo(const TraceSearch& search) const {
  const auto answer = fetch_(tempo_target(search), kJson);
  if (!answer) return answer.error();
  auto summaries = answer->status == 200 ? tempo_summaries(answer->body) : std::nullopt;
  if (!summaries) return odd("/api/search", *answer, "");
  return std::move(*summaries);
}

Result<Trace> TraceSource::get(const std::string& id) const {
  const bool jaeger = api_ == Api::kJaeger;
  const auto answer = fetch_("/api/traces/" + encoded(id), jaeger ? kJson : "application/protobuf");
  if (!answer) return answer.error();
  const Error missing{ErrorCode::kNotFound, "there is no trace " + id};
  if (answer->status == 404) return missing;
  if (answer->status != 200) return odd("/api/traces", *answer, jaeger ? jaeger_fault(answer->body) : "");
  if (!jaeger) {
    auto trace = tempo_trace(answer->body, answer->content_type.starts_with(kJson), id);
    if (!trace) return odd("/api/traces", *answer, "no trace");
    if (trace->spans.empty()) return missing;
    return std::move(*trace);
  }
  auto traces = jaeger_traces(answer->body);
  if (!traces) return odd("/api/traces", *answer, "no trace");
  if (traces->empty() || traces->front().spans.empty()) return missing;
  return std::move(traces->front());
}

}  // namespace edge::edgectl
