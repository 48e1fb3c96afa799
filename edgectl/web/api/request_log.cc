#include "edgectl/web/api/request_log.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/ascii.h"
#include "base/text/json.h"
#include "base/units.h"
#include "net/server/target.h"

namespace edge::edgectl::web {
namespace {

constexpr std::chrono::milliseconds kFreshFor(500);
constexpr std::size_t kMostShown = 1'000;
/// Pages of one agent in one refresh: an agent keeps at most eight.
constexpr unsigned kMostPages = 9;
/// Faults in a reply.
constexpr std::size_t kMostFaults = 16;

Error not_taken(const std::string& name, const std::string& takes) {
  return {ErrorCode::kInvalidArgument, name + " takes " + takes};
}

template <typename Number>
bool read_number(const std::string& text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, number);
  return fault == std::errc() && stop == end && !text.empty();
}

/// `404`, or `4xx` for a class.
bool read_status(const std::string& text, RequestQuery& query) {
  if (text.size() == 3 && text.ends_with("xx") && text[0] >= '1' && text[0] <= '5') {
    query.status_from = static_cast<unsigned>(text[0] - '0') * 100;
    query.status_to = query.status_from + 99;
    return true;
  }
  if (!read_number(text, query.status_from) || query.status_from > 999) return false;
  query.status_to = query.status_from;
  return query.status_from != 0;
}

Status read_parameter(const std::string& name, const std::string& value, RequestQuery& query) {
  std::map<std::string, std::string*, std::less<>> texts = {{"route", &query.route},     {"gateway", &query.gateway},
                                                            {"backend", &query.backend}, {"method", &query.method},
                                                            {"host", &query.host},       {"path", &query.path}};
  if (value.empty()) return {};
  if (const auto text = texts.find(name); text != texts.end()) {
    *text->second = value;
  } else if (name == "status") {
    if (!read_status(value, query)) return not_taken(name, "404, or 4xx for a class");
  } else if (name == "client") {
    query.client = parse_cidr(value);
    if (!query.client) return not_taken(name, "an address, or a network such as 10.0.0.0/8");
  } else if (name == "minDuration") {
    const auto least = parse_duration(value);
    if (!least) return not_taken(name, "a duration such as 250ms");
    query.min_ms = std::chrono::duration<double, std::milli>(*least).count();
  } else if (name == "after") {
    std::uint64_t after = 0;
    if (!read_number(value, after)) return not_taken(name, "a number");
    query.after = after;
  } else if (name == "limit") {
    if (!read_number(value, query.limit) || query.limit == 0 || query.limit > kMostShown)
      return not_taken(name, "a number from 1 to 1000");
  } else {
    return Error{ErrorCode::kInvalidArgument, "there is no parameter " + name};
  }
  return {};
}

bool is_named(const std::string& wanted, const std::string& name) {
  return wanted.empty() || wanted == name ||
         (wanted.find('/') == std::string::npos && name.size() > wanted.size() && name.ends_with("/" + wanted));
}

}  // namespace

Result<RequestQuery> read_request_query(const std::string& query) {
  RequestQuery read;
  const auto parameters = net::server::decode_query(query);
  if (!parameters) return Error{ErrorCode::kInvalidArgument, "the query cannot be read"};
  for (const auto& [name, value] : *parameters) {
    if (Status status = read_parameter(name, value, read); !status) return status.error();
  }
  read.host = ascii_lower(read.host);
  std::ranges::transform(read.method, read.method.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 0x20) : c; });
  return read;
}

void RequestLog::add(const std::string& agent, std::string_view text) {
  const nlohmann::json json = parse_json(text);
  if (!json.is_object() || json.empty()) return;
  const nlohmann::json& total = member_in(json, "total_ms");
  Line line{.agent = agent,
            .text = std::string(text),
            .host = text_in(json, "host"),
            .route = text_in(json, "route"),
            .gateway = text_in(json, "gateway"),
            .listener = text_in(json, "listener"),
            .backend = text_in(json, "backend"),
            .method = text_in(json, "method"),
            .path = text_in(json, "path"),
            .client = parse_ip(text_in(json, "client")),
            .status = static_cast<unsigned>(std::clamp<std::int64_t>(integer_in(json, "status"), 0, 999)),
            .total_ms = total.is_number() ? total.get<double>() : 0};
  const std::lock_guard lock(mutex_);
  line.id = ++last_id_;
  bytes_ += line.text.size();
  lines_.push_back(std::move(line));
  while (lines_.size() > kMostLines || bytes_ > kMostBytes) {
    bytes_ -= lines_.front().text.size();
    lines_.pop_front();
  }
}

void RequestLog::read_agent(const std::string& agent, std::size_t budget, std::vector<std::string>& faults) {
  if (!next_.contains(agent)) {
    // From the latest of them: all that many agents keep would not be kept here.
    const auto end = AgentPages::body_of(pages_->ask_one(agent, {.target = "/debug/access-log?limit=0"}));
    const nlohmann::json told = parse_json(end ? *end : "");
    const nlohmann::json& next = member_in(told, "next");
    const std::uint64_t newest = next.is_number_unsigned() ? next.get<std::uint64_t>() : 0;
    next_[agent] = newest > budget ? newest - budget : 0;
  }
  for (unsigned page = 0; page < kMostPages; ++page) {
    const std::uint64_t before = next_[agent];
    const auto body = AgentPages::body_of(
        pages_->ask_one(agent, {.target = "/debug/access-log?limit=1000&after=" + std::to_string(before)}));
    if (!body) {
      faults.push_back(body.error().text);
      return;
    }
    for (std::string_view rest = *body; !rest.empty();) {
      const std::string_view text = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(text.size() + 1, rest.size()));
      if (!text.starts_with("{\"next\":")) {
        add(agent, text);
        continue;
      }
      const nlohmann::json end = parse_json(text);
      const nlohmann::json& next = member_in(end, "next");
      if (next.is_number_unsigned()) next_[agent] = next.get<std::uint64_t>();
    }
    // One that has begun anew counts from 1.
    if (next_[agent] < before + 1000 || next_[agent] == before) return;
  }
}

Status RequestLog::refresh() {
  if (refreshed_ && std::chrono::steady_clock::now() - *refreshed_ < kFreshFor) return {};
  if (pages_ == nullptr) {
    auto opened = AgentPages::open(arguments_);
    if (!opened) return opened.error();
    pages_ = std::move(*opened);
  }
  const auto agents = pages_->names();
  if (!agents) {
    pages_.reset();
    return agents.error();
  }
  std::vector<std::string> faults;
  const std::size_t budget = kMostLines / std::max<std::size_t>(agents->size(), 1);
  for (const std::string& agent : *agents) read_agent(agent, budget, faults);
  std::erase_if(next_, [&](const auto& one) { return std::ranges::find(*agents, one.first) == agents->end(); });
  refreshed_ = std::chrono::steady_clock::now();
  const bool none = !faults.empty() && faults.size() == agents->size();
  Error first{ErrorCode::kUnavailable, none ? faults.front() : std::string()};
  if (none) pages_.reset();
  if (faults.size() > kMostFaults) faults.resize(kMostFaults);
  const std::lock_guard lock(mutex_);
  faults_ = std::move(faults);
  if (none) return first;
  return {};
}

bool RequestLog::wants(const RequestQuery& query, const Line& line) {
  if (query.status_from != 0 && (line.status < query.status_from || line.status > query.status_to)) return false;
  if (line.total_ms < query.min_ms) return false;
  if (!query.method.empty() && line.method != query.method) return false;
  if (!is_named(query.route, line.route) || !is_named(query.gateway, line.gateway) ||
      !is_named(query.backend, line.backend))
    return false;
  if (line.host.find(query.host) == std::string::npos || line.path.find(query.path) == std::string::npos) return false;
  return !query.client || (line.client && query.client->contains(*line.client));
}

std::string RequestLog::find(const RequestQuery& query, const PortOf& port_of, const MaySee& may_see) const {
  const std::lock_guard lock(mutex_);
  std::vector<const Line*> found;
  bool more = false;
  std::uint64_t missed = 0;
  if (query.after) {
    // A server that was started anew counts from 1.
    const std::uint64_t after = *query.after > last_id_ ? 0 : *query.after;
    if (!lines_.empty() && lines_.front().id > after + 1) missed = lines_.front().id - after - 1;
    for (const Line& line : lines_) {
      if (line.id <= after || !wants(query, line) || !may_see(line.route)) continue;
      if (found.size() == query.limit) {
        more = true;
        break;
      }
      found.push_back(&line);
    }
  } else {
    for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) {
      if (!wants(query, *line) || !may_see(line->route)) continue;
      if (found.size() == query.limit) {
        more = true;
        break;
      }
      found.push_back(&*line);
    }
    std::ranges::reverse(found);
  }
  const std::uint64_t next = query.after && more ? found.back()->id : last_id_;
  std::string json = R"({"next":)" + std::to_string(next) + R"(,"missed":)" + std::to_string(missed) + R"(,"more":)" +
                     (more ? "true" : "false") + R"(,"kept":)" + std::to_string(lines_.size()) + R"(,"faults":)" +
                     json_line(nlohmann::json(faults_)) + R"(,"lines":[)";
  for (const Line* line : found) {
    if (line != found.front()) json += ',';
    json += R"({"id":)" + std::to_string(line->id) + R"(,"agent":)" + json_line(nlohmann::json(line->agent)) +
            R"(,"port":)" + std::to_string(port_of(line->gateway, line->listener)) + ',' +
            line->text.substr(line->text.find('{') + 1);
  }
  return json + "]}";
}

}  // namespace edge::edgectl::web
