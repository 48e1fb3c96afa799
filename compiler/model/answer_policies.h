// Settings of ProxyPolicies by which the proxy answers itself, as written: of type Maintenance, FixedResponse and
// ErrorPages.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ip.h"
#include "compiler/model/metadata.h"

namespace edge::compiler::model {

/// A body that the proxy sends, and its type.
struct Page {
  Maybe<std::string> body{};
  Maybe<std::string> content_type{};
  std::optional<Reference> map{};  ///< a ConfigMap that has the body
  Located<std::string> map_key{};  ///< with `map`: its key
  std::string field{};             ///< with `map`: where it is written
};

struct Maintenance {
  Maybe<bool> enabled{};
  Maybe<std::chrono::nanoseconds> retry_after{};
  Page page{};
  std::vector<Located<Cidr>> except_addresses{};
  std::vector<NameValue> except_headers{};
};

struct FixedResponse {
  Located<std::int64_t> status;
  std::vector<NameValue> headers{};
  Page page{};
};

struct ErrorPage {
  Strings statuses{};  ///< `404`, or `5xx` for a class
  Page page{};
  Maybe<bool> backend_errors{};
};

struct ErrorPages {
  std::vector<ErrorPage> pages{};
};

}  // namespace edge::compiler::model
