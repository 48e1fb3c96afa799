// What the annotations of an Ingress ask for: `{api_group}/...` (docs/ingress.md), and those of ingress-nginx.
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
  /// Requests whose header has it go there. Without both: `always` does, and `never` does not.
  model::Maybe<std::string> header_value{};
  model::Maybe<std::string> header_pattern{};
  /// Requests whose cookie is `always` go there, with `never` they do not.
  model::Maybe<std::string> cookie{};
};

struct IngressSettings {
  model::Maybe<std::string> rewrite_target{};
  model::Maybe<HostPattern> rewrite_host{};
  model::Maybe<model::Duration> request_timeout{};
  model::Maybe<model::Duration> idle_timeout{};
  model::Maybe<std::uint64_t> max_body{};
  bool use_regex = false;
  /// Of ingress-nginx: all paths of its hosts, whatever the Ingress, are expressions that ignore case.
  bool regex_hosts = false;
  model::Maybe<std::string> nginx_rewrite{};
  /// A RequestRedirect in place of the backends.
  std::optional<model::Filter> redirect{};
  model::Maybe<std::string> app_root{};
  /// The host without `www.`, or with it, is sent to the one of the rule.
  bool www_redirect = false;
  std::vector<Located<HostPattern>> aliases{};
  std::vector<model::NameValue> request_headers{};
  std::optional<model::Retry> retry{};
  model::Maybe<bool> ssl_redirect{};
  Canary canary{};
  std::optional<model::SessionPersistence> persistence{};
  BackendOptions backend{};
  /// Type and settings alone; metadata and target are the route's. Without settings where a value is at fault: what it
  /// protects is then denied.
  std::vector<model::ProxyPolicy> policies{};
};

/// Unknown names and values that do not fit are reported, those of other controllers too.
IngressSettings read_annotations(const model::Ingress& ingress, Diagnostics& diagnostics);

/// The names, without `{api_group}/`, for documentation.
std::vector<std::string_view> annotation_names();

}  // namespace edge::compiler::translate
