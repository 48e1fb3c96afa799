// The Prometheus server that `--metrics-url` names.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "edgectl/observe/series.h"

namespace edge::edgectl {

class Prometheus {
 public:
  /// `url` may leave out the scheme, which is http then, and may end in the path that the server stands under.
  explicit Prometheus(std::string url, std::chrono::milliseconds most = std::chrono::seconds(20));

  /// kInvalidArgument: the query is refused, with the server's reason; kUnavailable.
  Result<std::vector<Series>> query(const std::string& query) const;
  /// From `seconds` ago to now, a point every `step` seconds.
  Result<std::vector<Series>> range(const std::string& query, double seconds, double step) const;
  const std::string& url() const { return url_; }

 private:
  Result<std::vector<Series>> ask(const std::string& target) const;

  std::string url_;
  std::chrono::milliseconds most_;
};

}  // namespace edge::edgectl
