// Which requests of an access log are wanted, beyond what agents choose by themselves (gateway, route, status, time).
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
  /// As a user types them; empty: all.
  struct Text {
    std::string method{};
    std::string path{};          ///< whole, or all below it where it ends in `/`, as excludePaths has it
    std::string backend{};       ///< `name` or `namespace/name`
    std::string client{};        ///< an address, or CIDR
    std::string min_duration{};  ///< `250ms`
  };
  /// kInvalidArgument says which flag, and what it takes.
  static Result<RequestFilter> read(const Text& text);

  bool all() const;
  /// `line`: an object as agents give it.
  bool wants(const nlohmann::json& line) const;

 private:
  std::string method_;
  std::string path_;
  std::string backend_;
  std::optional<Cidr> client_;
  std::optional<std::chrono::nanoseconds> min_duration_;
};

}  // namespace edge::edgectl
