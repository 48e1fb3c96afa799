// x-kubernetes-validations: rules in a subset of CEL (the Common Expression Language). The product's own CRDs use only
// this subset; other rules are not evaluated here, only by a cluster.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

class CelRule {
 public:
  struct Node;

  /// Parses an entry of x-kubernetes-validations (`rule`, `message`, `reason`, `fieldPath`). nullptr: the rule is
  /// outside of the subset.
  static std::shared_ptr<const CelRule> parse(const Json& entry);

  /// Returns the violation; nullptr when the rule holds, or is a transition rule and there is no `old`. A rule that
  /// fails to evaluate is violated, as in Kubernetes. Bounded in steps.
  std::unique_ptr<Cause> broken_by(const Json& self, const Json* old, std::string_view path) const;

  ~CelRule();

 private:
  CelRule();
  std::unique_ptr<const Node> root_;
  std::string text_, message_, reason_, field_;
  bool transition_ = false;
};

}  // namespace edge::resource_api::objects
