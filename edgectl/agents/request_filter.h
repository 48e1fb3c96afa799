// Selects requests of an access log by criteria that agents do not support themselves (these have gateway, route,
// status, time).
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/ip.h"
#include "base/result.h"

namespace edge::edgectl {

class RequestFilter {
 public:
  /// The criteria as typed; empty: all.
  struct Text {
    std::string method{};
    std::string path{};          ///< exact, or a prefix when it ends in `/`, as in excludePaths
    std::string backend{};       ///< `name` or `namespace/name`
    std::string client{};        ///< an address, or CIDR
    std::string min_duration{};  ///< `250ms`
  };
  /// kInvalidArgument names the flag, and the accepted form.
  static Result<RequestFilter> read(const Text& text);

  bool all() const;
  /// Returns whether a line matches. `line`: an object from an agent.
  bool wants(const nlohmann::json& line) const;

 private:
  std::string method_;
  std::string path_;
  std::string backend_;
  std::optional<Cidr> client_;
  std::optional<std::chrono::nanoseconds> min_duration_;
};

}  // namespace edge::edgectl
