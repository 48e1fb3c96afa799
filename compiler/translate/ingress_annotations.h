// The settings in an Ingress's annotations: `{api_group}/...` (docs/ingress.md), and those of ingress-nginx.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/diagnostics.h"
#include "compiler/model/ingress.h"
#include "compiler/translate/service_backends.h"

namespace edge::compiler::translate {

struct Canary {
  bool enabled = false;
  model::Maybe<std::int64_t> weight{};
  std::int64_t weight_total = 100;
  model::Maybe<std::string> header{};
  /// Requests whose header has this value go to the canary. Without both: those with `always`, and never those with
  /// `never`.
  model::Maybe<std::string> header_value{};
  model::Maybe<std::string> header_pattern{};
  /// Requests whose cookie is `always` go to the canary, those with `never` do not.
  model::Maybe<std::string> cookie{};
};

struct IngressSettings {
  model::Maybe<std::string> rewrite_target{};
  model::Maybe<HostPattern> rewrite_host{};
  model::Maybe<model::Duration> request_timeout{};
  model::Maybe<model::Duration> idle_timeout{};
  model::Maybe<std::uint64_t> max_body{};
  bool use_regex = false;
  /// For ingress-nginx: all paths of its hosts, in any Ingress, are case-insensitive patterns.
  bool regex_hosts = false;
  model::Maybe<std::string> nginx_rewrite{};
  /// A RequestRedirect that replaces the backends.
  std::optional<model::Filter> redirect{};
  model::Maybe<std::string> app_root{};
  /// Redirects the host without `www.`, or with it, to the rule's host.
  bool www_redirect = false;
  std::vector<Located<HostPattern>> aliases{};
  std::vector<model::NameValue> request_headers{};
  std::optional<model::Retry> retry{};
  model::Maybe<bool> ssl_redirect{};
  Canary canary{};
  std::optional<model::SessionPersistence> persistence{};
  BackendOptions backend{};
  /// Only type and settings; metadata and target are the route's. Without settings where a value is invalid: requests
  /// are then denied.
  std::vector<model::ProxyPolicy> policies{};
};

/// Parses the annotations. Unknown names and invalid values are reported, including those of other controllers.
IngressSettings read_annotations(const model::Ingress& ingress, Diagnostics& diagnostics);

}  // namespace edge::compiler::translate
