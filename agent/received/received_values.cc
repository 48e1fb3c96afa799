#include "agent/received/received_values.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "program/values/value_set.h"
#include "schemas/agent.pb.h"

namespace edge::agent {
namespace {

constexpr std::size_t kMaxEndpoints = 1'000'000;
constexpr std::size_t kMaxBackends = 1'000'000;
constexpr std::size_t kMaxSecrets = 100'000;
constexpr std::size_t kMaxSecretBytes = std::size_t{256} << 20;
constexpr std::size_t kMaxNameBytes = 253;

Error value_contradiction(const char* what) {
  return {ErrorCode::kInvalidArgument, std::string("values came with ") + what};
}
Error too_many(const char* what) { return {ErrorCode::kResourceExhausted, std::string("values came with ") + what}; }

bool is_name(const std::string& name_space, const std::string& name) {
  return !name.empty() && name.size() <= kMaxNameBytes && name_space.size() <= kMaxNameBytes;
}

std::size_t bytes_of(const program::NamedSecret& secret) {
  std::size_t bytes = 0;
  for (const program::SecretValue& value : secret.values) bytes += value.key.size() + value.value->size();
  return bytes;
}

/// Without what is no zone: an endpoint serves without one, too.
template <typename Texts>
program::EndpointZones zones_of(const Texts& texts) {
  program::EndpointZones zones;
  for (const std::string& text : texts) {
    if (program::is_zone(text) && zones.size() < program::kMostEndpointZones) zones.push_back(text);
  }
  return zones;
}

std::optional<program::Endpoint> endpoint_of(const v1::Endpoint& from) {
  program::Endpoint endpoint;
  if (from.address().size() != endpoint.address.bytes.size() || from.port() == 0 || from.port() > 65535) {
    return std::nullopt;
  }
  std::memcpy(endpoint.address.bytes.data(), from.address().data(), endpoint.address.bytes.size());
  endpoint.port = static_cast<std::uint16_t>(from.port());
  endpoint.ready = from.ready();
  if (from.weight() > program::kMostEndpointWeight) return std::nullopt;
  endpoint.weight = static_cast<std::uint16_t>(std::max(1u, from.weight()));
  endpoint.zones = zones_of(from.zones());
  return endpoint;
}

std::optional<program::EndpointName> name_of(const v1::EndpointName& from) {
  if (!program::is_endpoint_name(from.host()) || from.port() > 65535) return std::nullopt;
  if (from.weight() > program::kMostEndpointWeight) return std::nullopt;
  return program::EndpointName{.host = from.host(),
                               .port = static_cast<std::uint16_t>(from.port()),
                               .weight = static_cast<std::uint16_t>(std::max(1u, from.weight())),
                               .zones = zones_of(from.zones())};
}

}  // namespace

Status ValuesAssembly::change_endpoints(const v1::ValuesPart& part) {
  for (const std::uint64_t id : part.removed_backends()) {
    const auto found = backends_.find(id);
    if (found == backends_.end()) return value_contradiction("a backend taken away that was not there");
    endpoint_count_ -= found->second.endpoints.size() + found->second.names.size();
    backends_.erase(found);
  }
  for (const v1::Backend& from : part.backends()) {
    if (!is_name(from.namespace_(), from.name())) return value_contradiction("a backend without a name");
    const std::uint64_t id = stable_id("ProxyBackend", from.namespace_(), from.name());
    program::BackendEndpoints& backend = backends_[id];
    if (open_backends_.insert(id).second) {
      endpoint_count_ -= backend.endpoints.size() + backend.names.size();
      backend = {id, from.namespace_(), from.name(), {}, {}};
    }
    for (const v1::Endpoint& endpoint : from.endpoints()) {
      auto read = endpoint_of(endpoint);
      if (!read) return value_contradiction("an endpoint that is none");
      backend.endpoints.push_back(*std::move(read));
    }
    for (const v1::ClusterEndpoint& endpoint : from.cluster_endpoints()) {
      auto read = endpoint_of(endpoint.endpoint());
      if (!read || !program::is_cluster_name(endpoint.cluster())) {
        return value_contradiction("a gateway that is none");
      }
      read->cluster = endpoint.cluster();
      read->healthy_percent = static_cast<std::uint8_t>(std::min(100u, endpoint.healthy_percent()));
      backend.endpoints.push_back(*std::move(read));
    }
    for (const v1::EndpointName& name : from.names()) {
      auto read = name_of(name);
      if (!read || backend.names.size() >= program::kMostEndpointNames)
        return value_contradiction("a name that is none");
      backend.names.push_back(std::move(*read));
    }
    endpoint_count_ += static_cast<std::size_t>(from.endpoints_size()) + static_cast<std::size_t>(from.names_size()) +
                       static_cast<std::size_t>(from.cluster_endpoints_size());
    if (endpoint_count_ > kMaxEndpoints || backends_.size() > kMaxBackends) return too_many("too many endpoints");
  }
  return {};
}

Status ValuesAssembly::change_secrets(const v1::ValuesPart& part) {
  for (const v1::SecretName& name : part.removed_secrets()) {
    const auto found = secrets_.find({name.namespace_(), name.name()});
    if (found == secrets_.end()) return value_contradiction("a secret taken away that was not there");
    secret_bytes_ -= bytes_of(found->second);
    secrets_.erase(found);
  }
  for (const v1::Secret& from : part.secrets()) {
    if (!is_name(from.namespace_(), from.name())) return value_contradiction("a secret without a name");
    const Name name{from.namespace_(), from.name()};
    program::NamedSecret& secret = secrets_[name];
    if (open_secrets_.insert(name).second) {
      secret_bytes_ -= bytes_of(secret);
      secret = {name.first, name.second, {}};
    }
    for (const v1::SecretValue& value : from.values()) {
      secret.values.push_back({value.key(), std::make_shared<const std::string>(value.value())});
      secret_bytes_ += value.key().size() + value.value().size();
    }
    if (secret_bytes_ > kMaxSecretBytes || secrets_.size() > kMaxSecrets) return too_many("too many secrets");
  }
  return {};
}

Status ValuesAssembly::change(const v1::ValuesPart& part) {
  if (part.whole()) {
    *this = {};
    begun_ = true;
  }
  if (!begun_) return value_contradiction("changes to nothing");
  if (part.version() != version_) {
    if (!open_backends_.empty() || !open_secrets_.empty()) return value_contradiction("two versions in one");
    version_ = part.version();
  }
  Status status = change_endpoints(part);
  return status ? change_secrets(part) : status;
}

Result<std::optional<ReceivedValues>> ValuesAssembly::take(const v1::ValuesPart& part) {
  ReceivedValues received;
  Status status = change(part);
  if (status && part.program().size() != received.program.size()) status = value_contradiction("no program");
  if (!status) {
    *this = {};
    return status.error();
  }
  if (!part.last()) return std::optional<ReceivedValues>();
  open_backends_.clear();
  open_secrets_.clear();
  received.version = part.version();
  std::memcpy(received.program.data(), part.program().data(), received.program.size());
  for (const auto& [id, backend] : backends_) {
    program::BackendEndpoints& copy = received.endpoints.backends.emplace_back(backend);
    // In the order that is promised to those who search it, whatever came.
    program::sort(copy);
  }
  for (const auto& [name, secret] : secrets_) received.secrets.secrets.push_back(secret);
  received.secrets.sort();
  return std::optional(std::move(received));
}

void ReceivedValues::replace(const ReceivedValues& before) {
  skipped_endpoints = united(skipped_endpoints, united(before.endpoints, before.skipped_endpoints));
  skipped_secrets = united(skipped_secrets, united(before.secrets, before.skipped_secrets));
}

}  // namespace edge::agent
