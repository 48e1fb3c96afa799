#include "controller/remote/spoke_reads.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "net/server/target.h"
#include "schemas/schema.h"

namespace edge::controller::remote {
namespace {

constexpr std::chrono::seconds kPatience{5};
constexpr std::array<std::string_view, 4> kParameters = {"limit", "continue", "labelSelector", "fieldSelector"};

AgentAnswer refusal(int status, const std::string& text) { return {status, "text/plain", text + "\n"}; }

bool is_plain(std::string_view part) {
  constexpr std::string_view kBeyond = ".-";
  return !part.empty() && part != "." && part != ".." && std::ranges::all_of(part, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || kBeyond.find(c) != std::string_view::npos;
  });
}

/// The parts of a path; nullopt: one of them is no name.
std::optional<std::vector<std::string_view>> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (path.starts_with('/')) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    if (!is_plain(path.substr(0, end))) return std::nullopt;
    parts.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return parts;
}

/// What is read; `events` belong to objects of own kinds.
struct Read {
  bool events = false;
  bool list = false;
};

std::optional<Read> read_of(std::vector<std::string_view> parts) {
  if (parts.size() < 3) return std::nullopt;
  const bool core = parts[0] == "api";
  if (!core && parts[0] != "apis") return std::nullopt;
  const std::string version = core ? std::string(parts[1]) : std::string(parts[1]) + "/" + std::string(parts[2]);
  parts.erase(parts.begin(), parts.begin() + (core ? 2 : 3));
  if (parts.size() > 2 && parts[0] == "namespaces") parts.erase(parts.begin(), parts.begin() + 2);
  if (parts.empty() || parts.size() > 2) return std::nullopt;
  const bool list = parts.size() == 1;
  if (core) {
    const bool events = version == "v1" && parts[0] == "events" && list;
    return events ? std::optional(Read{.events = true, .list = true}) : std::nullopt;
  }
  const bool own = std::ranges::any_of(schemas::kinds(), [&](const schemas::Kind& kind) {
    return kind.own && kind.api_version == version && kind.plural == parts[0];
  });
  return own ? std::optional(Read{.list = list}) : std::nullopt;
}

/// `involvedObject.kind=K` with a kind of ours, and nothing but of that object.
bool selects_own(std::string_view selector) {
  bool own = false;
  while (!selector.empty()) {
    const std::size_t end = std::min(selector.find(','), selector.size());
    const std::string_view term = selector.substr(0, end);
    constexpr std::string_view kKind = "involvedObject.kind=";
    if (term.starts_with(kKind)) {
      const schemas::Kind* const kind = schemas::find_kind(term.substr(kKind.size()));
      own = kind != nullptr && kind->own;
    } else if (!term.starts_with("involvedObject.")) {
      return false;
    }
    selector.remove_prefix(std::min(end + 1, selector.size()));
  }
  return own;
}

constexpr std::string_view kTraces = "/traces/";

/// A trace by its id, and nothing that lists or searches.
bool is_trace(std::string_view target) {
  constexpr std::string_view kTrace = "/traces/api/traces/";
  if (!target.starts_with(kTrace)) return false;
  const std::string_view id = target.substr(kTrace.size());
  return !id.empty() && id.size() <= 32 && id.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

}  // namespace

Status check_read(std::string_view target) {
  const std::size_t mark = std::min(target.find('?'), target.size());
  const auto parts = parts_of(target.substr(0, mark));
  if (!parts) return Error{ErrorCode::kInvalidArgument, "the target is no path of the API"};
  const auto read = read_of(*parts);
  if (!read)
    return Error{ErrorCode::kPermissionDenied, "the cluster lets its hub read kinds of " EDGE_API_GROUP " alone"};
  const auto query = net::server::decode_query(target.substr(std::min(mark + 1, target.size())));
  if (!query) return Error{ErrorCode::kInvalidArgument, "the target's query cannot be read"};
  bool of_own = false;
  for (const auto& [name, value] : *query) {
    if (std::ranges::find(kParameters, name) == kParameters.end()) {
      return Error{ErrorCode::kPermissionDenied, "the cluster lets its hub read, without `" + name + "`"};
    }
    if (name == "fieldSelector") of_own = selects_own(value);
  }
  if (!read->events || of_own) return {};
  return Error{ErrorCode::kPermissionDenied,
               "the cluster lets its hub read events of kinds of " EDGE_API_GROUP " alone"};
}

AgentAnswer SpokeReads::answer(const AgentQuestion& question) {
  if (question.method != "GET") return refusal(405, "only GET");
  if (question.target == "/program") return answer_program();
  if (question.target.starts_with(kTraces)) {
    if (!options_.traces) return refusal(403, "the cluster lets its hub read no traces (--hub-reads traces)");
    return is_trace(question.target) ? options_.traces(question) : refusal(404, "there is no such trace");
  }
  if (Status status = check_read(question.target); !status) {
    return refusal(status.error().code == ErrorCode::kInvalidArgument ? 400 : 403, status.error().text);
  }
  return answer_api(question.target);
}

AgentAnswer SpokeReads::answer_program() const {
  const auto bytes = options_.program ? options_.program() : nullptr;
  if (bytes == nullptr) return refusal(404, "the cluster has no program yet");
  if (bytes->size() > kMostBytes) return refusal(413, "the program of the cluster is too large to be read by its hub");
  return {200, "application/octet-stream", std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size())};
}

AgentAnswer SpokeReads::answer_api(const std::string& target) {
  kube::BlockingClient* api = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (api_ == nullptr) {
      kube::ClientOptions options;
      options.timeout = kPatience;
      options.tries = 0;
      options.max_body = kMostBytes;
      auto made = kube::BlockingClient::make(options_.config, options);
      if (!made) return refusal(503, "the cluster's API cannot be asked: " + made.error().text);
      api_ = std::move(*made);
    }
    api = api_.get();
  }
  std::string bounded = target;
  if (target.find("limit=") == std::string::npos) {
    bounded += (target.find('?') == std::string::npos ? "?limit=" : "&limit=") + std::to_string(kMostObjects);
  }
  kube::Reply reply = api->send({.target = bounded});
  if (reply.http == 0) return refusal(503, "the cluster's API does not answer: " + reply.failure.message);
  return {reply.http, std::move(reply.content_type), std::move(reply.body)};
}

}  // namespace edge::controller::remote
