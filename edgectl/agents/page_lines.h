// Reads lines that daemons keep for a while and return by cursor: access logs (/debug/access-log) and messages
// (/debug/logs). Each response is JSON lines, the last of them {"next":N,"missed":M}.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/result.h"

namespace edge::edgectl {

struct PageLine {
  std::string source;  ///< the agent
  std::string time;    ///< RFC 3339
  std::string text;    ///< JSON
};

class PageLines {
 public:
  /// Fetches the body of a page of `source`.
  using Fetch = std::function<Result<std::string>(const std::string& source, const std::string& target)>;

  /// `page` with its filters, `first` are additional parameters of the first request: `since=5m`, `tail=10`.
  PageLines(Fetch fetch, std::string page, std::string first);

  struct Batch {
    std::vector<PageLine> lines;  ///< by time
    std::uint64_t missed = 0;     ///< were dropped before they could be read
    bool more = false;            ///< there are more matching lines
    std::vector<Error> failed;
  };
  /// Sets a filter; lines for which it is false are omitted. All lines present when a source is first read are then
  /// read, not only the first page, and not those that arrive meanwhile.
  void only(std::function<bool(const nlohmann::json&)> wants) { wants_ = std::move(wants); }
  /// Returns the lines of each source; from the second call on those after the last.
  Batch read(const std::vector<std::string>& sources);

 private:
  std::string target(const std::string& query) const;
  std::uint64_t end_of(const std::string& source);
  void take(const std::string& source, const std::string& body, Batch& batch);

  Fetch fetch_;
  std::string page_;
  std::string first_;
  std::function<bool(const nlohmann::json&)> wants_;
  std::map<std::string, std::uint64_t> next_;  ///< by source
  std::map<std::string, std::uint64_t> ends_;  ///< last line at the first read, by source
};

/// Prints the lines, and with `follow` new ones, until stdout is closed. `text_of` formats a line without its newline.
/// Returns the exit code.
int print_lines(std::string_view command, PageLines& lines,
                const std::function<Result<std::vector<std::string>>()>& sources,
                const std::function<std::string(const PageLine&)>& text_of, bool follow);

/// Returns `name=value` for a page's query, or nothing.
std::string query_part(std::string_view name, const std::string& value);
/// Returns a member of an object as text; empty when absent.
std::string member_text(const nlohmann::json& object, std::string_view name);

}  // namespace edge::edgectl
