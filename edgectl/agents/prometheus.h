// A client for the Prometheus server of `--metrics-url`.
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
  /// `url` may omit the scheme, which is http then, and may have a path prefix.
  explicit Prometheus(std::string url, std::chrono::milliseconds most = std::chrono::seconds(20));

  /// kInvalidArgument: the server rejects the query, with its reason; kUnavailable.
  Result<std::vector<Series>> query(const std::string& query) const;
  /// Queries from `seconds` ago until now, with a point every `step` seconds.
  Result<std::vector<Series>> range(const std::string& query, double seconds, double step) const;
  const std::string& url() const { return url_; }

 private:
  Result<std::vector<Series>> ask(const std::string& target) const;

  std::string url_;
  std::chrono::milliseconds most_;
};

}  // namespace edge::edgectl
