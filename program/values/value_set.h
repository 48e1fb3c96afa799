// Endpoints and secrets together, as stored by a controller. Successive versions share unchanged parts, so that a copy
// costs a pointer per backend and secret, and a comparison mostly compares pointers.
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

/// From sorted sets.
ValueSet value_set(EndpointSet endpoints, SecretSet secrets);
EndpointSet endpoints_of(const ValueSet& values);
SecretSet secrets_of(const ValueSet& values);

/// Returns `next`, with the backends of `before` that are not in it.
ValueSet with_backends_of(ValueSet next, const ValueSet& before);

/// Returns the approximate memory; shared values of secrets are counted each time.
std::size_t bytes_of(const ValueSet& values);

/// Returns the entries of `next`, and those of `previous` that are not in it. Both are sorted.
EndpointSet united(const EndpointSet& next, const EndpointSet& previous);
SecretSet united(const SecretSet& next, const SecretSet& previous);

}  // namespace edge::program
