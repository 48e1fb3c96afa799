// What the annotations `{api_group}/...` of an Ingress ask for. docs/ingress.md lists them.
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
  model::Maybe<std::int64_t> weight{};  ///< percent
  model::Maybe<std::string> header{};
  model::Maybe<std::string> header_value{};
};

struct IngressSettings {
  model::Maybe<std::string> rewrite_target{};
  model::Maybe<HostPattern> rewrite_host{};
  model::Maybe<model::Duration> request_timeout{};
  model::Maybe<model::Duration> idle_timeout{};
  model::Maybe<std::uint64_t> max_body{};
  bool use_regex = false;
  model::Maybe<bool> ssl_redirect{};
  Canary canary{};
  std::optional<model::SessionPersistence> persistence{};
  BackendOptions backend{};
  /// Type and settings alone; metadata and target are the route's. Without settings where a value is at fault: what it
  /// protects is then denied.
  std::vector<model::ProxyPolicy> policies{};
};

/// Unknown names and values that do not fit are reported.
IngressSettings read_annotations(const model::Ingress& ingress, Diagnostics& diagnostics);

/// The names, without `{api_group}/`, for documentation.
std::vector<std::string_view> annotation_names();

}  // namespace edge::compiler::translate
