// Lines that daemons keep for a while and give out by a cursor: access logs (/debug/access-log) and messages
// (/debug/logs). Each answer is JSON lines, the last of them {"next":N,"missed":M}.
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
  /// The body of a page of `source`.
  using Fetch = std::function<Result<std::string>(const std::string& source, const std::string& target)>;

  /// `page` with its filters, `first` what is asked besides at first: `since=5m`, `tail=10`.
  PageLines(Fetch fetch, std::string page, std::string first);

  struct Batch {
    std::vector<PageLine> lines;  ///< by time
    std::uint64_t missed = 0;     ///< came, and went before they were asked for
    bool more = false;            ///< of what `only` has read to its end
    std::vector<Error> failed;
  };
  /// Lines for which this is false are left out. All that is there when a source is first asked is read then, not the
  /// first page alone: what comes meanwhile would have no end.
  void only(std::function<bool(const nlohmann::json&)> wants) { wants_ = std::move(wants); }
  /// What is there of each; behind the lines of the last time, from the second time on.
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
  std::map<std::string, std::uint64_t> ends_;  ///< when it was first asked, by source
};

/// Prints what there is, and with `follow` what comes, until stdout is closed. `text_of` makes a line without its end.
/// Gives the exit code.
int print_lines(std::string_view command, PageLines& lines,
                const std::function<Result<std::vector<std::string>>()>& sources,
                const std::function<std::string(const PageLine&)>& text_of, bool follow);

/// `value` of a query of a page, or nothing.
std::string query_part(std::string_view name, const std::string& value);
/// A member of an object as text; empty when it is not there.
std::string member_text(const nlohmann::json& object, std::string_view name);

}  // namespace edge::edgectl
