// Asks the API for what checks.h judges, before anything is written.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "controller/kube/failure.h"
#include "edgectl/install/checks.h"
#include "edgectl/install/plan.h"
#include "edgectl/resources/cluster.h"

namespace edge::edgectl {

struct Examination {
  /// The API did not answer: there is no point in going on.
  kube::Failure failure{};
  std::vector<Check> checks{};

  bool failed() const;
};

/// Makes some ten calls, and one for each right where the user is no administrator of the cluster.
Examination examine(Cluster& cluster, const InstallOptions& options, const std::vector<Planned>& objects,
                    InstallVerb verb);

/// Returns the operator's Deployment, or null.
nlohmann::json installed_operator(Cluster& cluster, const std::string& name_space, kube::Failure& failure);

/// The resource of a kind that is planned. Known without a request: what the API does not serve fails when it is sent.
kube::Resource resource_of(const Planned& object);

}  // namespace edge::edgectl
