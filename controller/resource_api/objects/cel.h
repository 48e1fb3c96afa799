// x-kubernetes-validations: rules in a part of CEL (the Common Expression Language). What our own CRDs say is in that
// part; a rule of more is not evaluated here, and a cluster alone holds it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "controller/resource_api/objects/status.h"

namespace edge::resource_api::objects {

class CelRule {
 public:
  struct Node;

  /// From an entry of x-kubernetes-validations (`rule`, `message`, `reason`, `fieldPath`). nullptr: the rule uses what
  /// is not evaluated here.
  static std::shared_ptr<const CelRule> parse(const Json& entry);

  /// nullptr when the rule holds, or is a transition rule and there is no `old`; else what to say. A rule that fails to
  /// evaluate does not hold, as in Kubernetes. Bounded in steps.
  std::unique_ptr<Cause> broken_by(const Json& self, const Json* old, std::string_view path) const;

  ~CelRule();

 private:
  CelRule();
  std::unique_ptr<const Node> root_;
  std::string text_, message_, reason_, field_;
  bool transition_ = false;
};

}  // namespace edge::resource_api::objects
