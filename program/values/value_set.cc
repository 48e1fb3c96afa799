#include "program/values/value_set.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace edge::program {
namespace {

template <typename T>
bool same(const std::vector<std::shared_ptr<const T>>& a, const std::vector<std::shared_ptr<const T>>& b) {
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) { return x == y || *x == *y; });
}

}  // namespace

bool operator==(const ValueSet& a, const ValueSet& b) {
  return same(a.backends, b.backends) && same(a.secrets, b.secrets);
}

ValueSet value_set(EndpointSet endpoints, SecretSet secrets) {
  ValueSet values;
  values.backends.reserve(endpoints.backends.size());
  for (BackendEndpoints& backend : endpoints.backends) {
    values.backends.push_back(std::make_shared<const BackendEndpoints>(std::move(backend)));
  }
  values.secrets.reserve(secrets.secrets.size());
  for (NamedSecret& secret : secrets.secrets) {
    values.secrets.push_back(std::make_shared<const NamedSecret>(std::move(secret)));
  }
  return values;
}

EndpointSet endpoints_of(const ValueSet& values) {
  EndpointSet endpoints;
  endpoints.backends.reserve(values.backends.size());
  for (const auto& backend : values.backends) endpoints.backends.push_back(*backend);
  return endpoints;
}

SecretSet secrets_of(const ValueSet& values) {
  SecretSet secrets;
  secrets.secrets.reserve(values.secrets.size());
  for (const auto& secret : values.secrets) secrets.secrets.push_back(*secret);
  return secrets;
}

ValueSet with_backends_of(ValueSet next, const ValueSet& before) {
  std::vector<std::shared_ptr<const BackendEndpoints>> both;
  // Of two of one id set_union takes the first range's.
  std::ranges::set_union(next.backends, before.backends, std::back_inserter(both),
                         [](const auto& a, const auto& b) { return a->backend_id < b->backend_id; });
  next.backends = std::move(both);
  return next;
}

EndpointSet united(const EndpointSet& next, const EndpointSet& previous) {
  EndpointSet both;
  const auto by_id = [](const BackendEndpoints& a, const BackendEndpoints& b) { return a.backend_id < b.backend_id; };
  // Of two equal ids set_union takes the first range's.
  std::ranges::set_union(next.backends, previous.backends, std::back_inserter(both.backends), by_id);
  return both;
}

SecretSet united(const SecretSet& next, const SecretSet& previous) {
  SecretSet both;
  const auto by_name = [](const NamedSecret& a, const NamedSecret& b) {
    return std::tie(a.name_space, a.name) < std::tie(b.name_space, b.name);
  };
  std::ranges::set_union(next.secrets, previous.secrets, std::back_inserter(both.secrets), by_name);
  return both;
}

std::size_t bytes_of(const ValueSet& values) {
  std::size_t bytes = 0;
  for (const auto& backend : values.backends) {
    bytes += sizeof *backend + backend->name_space.size() + backend->name.size() +
             backend->endpoints.size() * sizeof(Endpoint);
    for (const Endpoint& endpoint : backend->endpoints) {
      bytes += endpoint.zones.size() * sizeof(std::string) + endpoint.cluster.size();
    }
    for (const EndpointName& name : backend->names) bytes += sizeof name + name.host.size();
  }
  for (const auto& secret : values.secrets) {
    bytes += sizeof *secret + secret->name_space.size() + secret->name.size();
    for (const SecretValue& value : secret->values) bytes += sizeof value + value.key.size() + value.value->size();
  }
  return bytes;
}

}  // namespace edge::program
