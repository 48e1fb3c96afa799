// Endpoints and secrets together: what travels beside a program, as a controller keeps it. Versions that follow each
// other share what did not change, so that a copy costs a pointer for each backend and secret, and to compare two of
// them a glance at each.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "program/values/endpoints.h"
#include "program/values/secrets.h"

namespace edge::program {

struct ValueSet {
  /// Ascending by backend id; none is null.
  std::vector<std::shared_ptr<const BackendEndpoints>> backends;
  /// Ascending by namespace and name; none is null.
  std::vector<std::shared_ptr<const NamedSecret>> secrets;

  friend bool operator==(const ValueSet& a, const ValueSet& b);
};

/// Of sets in their order.
ValueSet value_set(EndpointSet endpoints, SecretSet secrets);
EndpointSet endpoints_of(const ValueSet& values);
SecretSet secrets_of(const ValueSet& values);

/// What is in `next`, and the backends of `before` that are not in it.
ValueSet with_backends_of(ValueSet next, const ValueSet& before);

/// Memory of all of it, about; each value of a secret is counted though others may share it.
std::size_t bytes_of(const ValueSet& values);

}  // namespace edge::program
