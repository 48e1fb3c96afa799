// The latest requests of all agents, by their access logs: fetched once for all viewers, and filtered here.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ip.h"
#include "base/result.h"
#include "cli/flags.h"
#include "edgectl/agents/agent_pages.h"

namespace edge::edgectl::web {

struct RequestQuery {
  std::string host{};     ///< part of the name, lower case
  std::string route{};    ///< `name` or `namespace/name`
  std::string gateway{};  ///< the same
  std::string backend{};  ///< the same
  std::string method{};
  std::string path{};        ///< part of it
  unsigned status_from = 0;  ///< both 0: all
  unsigned status_to = 0;
  double min_ms = 0;
  std::optional<Cidr> client{};
  std::optional<std::uint64_t> after{};  ///< only those that were fetched later
  std::size_t limit = 200;
};

/// Reads the query of a call. kInvalidArgument names the parameter, and the accepted form.
Result<RequestQuery> read_request_query(const std::string& query);

class RequestLog {
 public:
  static constexpr std::size_t kMostLines = 8192;
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;

  explicit RequestLog(cli::Arguments arguments) : arguments_(std::move(arguments)) {}

  /// Fetches what is new from every agent, unless that was just done. Blocks. For one thread at a time. kUnavailable:
  /// neither a controller nor an agent answers.
  Status refresh();
  /// Returns the port of a listener; 0: not known.
  using PortOf = std::function<unsigned(const std::string& gateway, const std::string& listener)>;
  /// Returns whether the viewer may see requests of a route; empty: of none.
  using MaySee = std::function<bool(const std::string& route)>;
  /// Returns one line of JSON: the latest lines that match, or those after `query.after`, the oldest first. Any thread.
  std::string find(const RequestQuery& query, const PortOf& port_of, const MaySee& may_see) const;
  /// Adds a line of an agent; text that is no object is ignored. Any thread.
  void add(const std::string& agent, std::string_view text);

 private:
  struct Line {
    std::uint64_t id = 0;
    std::string agent, text;
    std::string host, route, gateway, listener, backend, method, path;
    std::optional<IpAddress> client;
    unsigned status = 0;
    double total_ms = 0;
  };
  static bool wants(const RequestQuery& query, const Line& line);
  void read_agent(const std::string& agent, std::size_t budget, std::vector<std::string>& faults);

  cli::Arguments arguments_;
  std::unique_ptr<AgentPages> pages_;
  std::map<std::string, std::uint64_t> next_;  ///< by agent
  std::optional<std::chrono::steady_clock::time_point> refreshed_;

  mutable std::mutex mutex_;  ///< of what follows
  std::deque<Line> lines_;
  std::size_t bytes_ = 0;
  std::uint64_t last_id_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace edge::edgectl::web
