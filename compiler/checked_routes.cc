#include "compiler/checked_routes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/link/conditions.h"

namespace edge::compiler {
namespace {

/// Of a route that is left out, for its first error.
std::optional<ResourceStatus> refused_status(const LinkedRoute& route, const std::vector<Diagnostic>& remarks) {
  const auto error = std::ranges::find(remarks, Severity::kError, &Diagnostic::severity);
  if (error == remarks.end()) return std::nullopt;
  ResourceStatus status;
  status.kind = route.identity.kind;
  status.name_space = route.identity.name_space;
  status.name = route.identity.name;
  // Gateway API has no word for a route whose fields are at fault.
  const std::string_view why = status.kind == "ProxyRoute" ? reason::kInvalid : reason::kUnsupportedValue;
  set_condition(status.conditions, {std::string(condition::kAccepted), ConditionStatus::kFalse, std::string(why),
                                    error->field.empty() ? error->message : error->field + ": " + error->message});
  return status;
}

}  // namespace

void CheckedRoutes::check_all(const LinkedConfig& config) {
  refused_.clear();
  remarks_.clear();
  for (std::uint32_t route = 0; route < config.routes.size(); ++route) check(config, route);
}

void CheckedRoutes::check(const LinkedConfig& config, std::uint32_t route) {
  refused_.erase(route);
  Diagnostics found;
  prepared_.prepare_one(config, route, found);
  if (found.all().empty()) {
    remarks_.erase(route);
  } else {
    remarks_[route] = found.all();
  }
}

void CheckedRoutes::refuse(RouteRefusal refusal) {
  refused_.insert(refusal.route);
  prepared_.refuse(refusal.route);
  remarks_[refusal.route].push_back(std::move(refusal.diagnostic));
}

void CheckedRoutes::report(Diagnostics& diagnostics) const {
  for (const auto& [route, remarks] : remarks_)
    for (const Diagnostic& remark : remarks) diagnostics.add(remark);
}

std::vector<ResourceStatus> CheckedRoutes::statuses(const LinkedConfig& config) const {
  std::vector<ResourceStatus> all;
  for (const auto& [route, remarks] : remarks_)
    if (auto status = refused_status(config.routes[route], remarks)) all.push_back(*std::move(status));
  return all;
}

}  // namespace edge::compiler
