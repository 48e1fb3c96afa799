#include "controller/endpoints/value_index.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/hash.h"
#include "base/ip/node_addresses.h"
#include "compiler/link/backends/values.h"
#include "compiler/link/names.h"
#include "controller/endpoints/value_object.h"
#include "program/cluster_traffic.h"
#include "program/values/certificate_file.h"
#include "program/values/ordered_certificates.h"

namespace edge::controller {
namespace {

namespace model = compiler::model;

/// Of what is told of this cluster; as controller/remote/words.h takes it.
constexpr std::size_t kMostGateways = 16;
constexpr std::size_t kMostExports = 512;

std::string key_of(const std::string& name_space, const std::string& service) { return name_space + "/" + service; }
std::string service_of(const model::EndpointSlice& slice) { return key_of(slice.metadata.name_space, slice.service); }

bool same_source(const compiler::EndpointSource& a, const compiler::EndpointSource& b) {
  return std::tie(a.name_space, a.name, a.port, a.target_port, a.only_port, a.udp, a.prefers_zone) ==
         std::tie(b.name_space, b.name, b.port, b.target_port, b.only_port, b.udp, b.prefers_zone);
}

auto id_of(const std::shared_ptr<const program::BackendEndpoints>& backend) { return backend->backend_id; }

auto name_of(const std::shared_ptr<const program::NamedSecret>& secret) {
  return std::pair<std::string_view, std::string_view>(secret->name_space, secret->name);
}

}  // namespace

bool ValueIndex::holds(std::string_view kind) {
  return !leaves_something(kind) || kind == "Secret" || kind == "ConfigMap";
}

bool ValueIndex::leaves_something(std::string_view kind) {
  return kind != "EndpointSlice" && kind != "Endpoints" && kind != kClusterDirectoryKind;
}

std::optional<std::string> ValueIndex::put(std::string_view kind, const std::string& object,
                                           const std::string& document) {
  if (kind == kClusterDirectoryKind) {
    set_directory(read_cluster_directory(document));
    return std::nullopt;
  }
  ValueObject read = read_value_object(object, document);
  replace(object, {std::move(read.slices), std::move(read.secrets)});
  return leaves_something(kind) ? std::move(read.for_compiler) : std::nullopt;
}

void ValueIndex::remove(const std::string& object) {
  replace(object, {});
  objects_.erase(object);
}

void ValueIndex::replace(const std::string& object, Held next) {
  Held& held = objects_[object];
  std::set<std::string> services;
  std::set<SecretName> names;
  for (const model::EndpointSlice& slice : held.slices) {
    std::string service = service_of(slice);
    if (const auto found = slices_.find(service); found != slices_.end()) found->second.erase(object);
    services.insert(std::move(service));
  }
  for (const model::Secret& secret : held.secrets) {
    SecretName name{secret.metadata.name_space, secret.metadata.name};
    if (const auto found = secrets_.find(name); found != secrets_.end()) found->second.erase(object);
    names.insert(std::move(name));
  }
  held = std::move(next);
  for (const model::EndpointSlice& slice : held.slices) {
    std::string service = service_of(slice);
    slices_[service].insert(object);
    services.insert(std::move(service));
  }
  for (const model::Secret& secret : held.secrets) {
    SecretName name{secret.metadata.name_space, secret.metadata.name};
    secrets_[name].insert(object);
    names.insert(std::move(name));
  }
  for (const std::string& service : services) {
    if (const auto found = slices_.find(service); found->second.empty()) slices_.erase(found);
    refresh_backends(service);
  }
  for (const SecretName& name : names) {
    if (const auto found = secrets_.find(name); found->second.empty()) secrets_.erase(found);
    refresh_secret(name);
  }
}

void ValueIndex::find_endpoints(Backend& backend, const BackendName& name) const {
  std::vector<const model::EndpointSlice*> slices;
  const std::string service = key_of(backend.source.name_space, backend.source.name);
  if (const auto objects = slices_.find(service); objects != slices_.end()) {
    for (const std::string& object : objects->second) {
      for (const model::EndpointSlice& slice : objects_.at(object).slices) {
        if (service_of(slice) == service) slices.push_back(&slice);
      }
    }
  }
  set_endpoints(backend, name, compiler::link::endpoints_of(backend.source, slices));
}

/// Leaves what is there where it is no other, so that it stays shared with what was published.
void ValueIndex::set_endpoints(Backend& backend, const BackendName& name, std::vector<program::Endpoint> endpoints,
                               std::vector<program::EndpointName> names) const {
  backend.own = endpoints;
  compiler::link::add_gateways(backend.clusters, directory_.clusters, endpoints);
  // Own endpoints come as they may be called; the addresses of gateways are what another cluster says.
  std::erase_if(endpoints, [this](const program::Endpoint& endpoint) {
    return !endpoint.cluster.empty() && allowed({endpoint}).empty();
  });
  const auto& old = backend.endpoints;
  if (old != nullptr && old->endpoints == endpoints && old->names == names) return;
  backend.endpoints = std::make_shared<const program::BackendEndpoints>(
      program::BackendEndpoints{stable_id("ProxyBackend", name.first, name.second), name.first, name.second,
                                std::move(endpoints), std::move(names)});
}

void ValueIndex::refresh_backends(const std::string& service) {
  const auto users = users_.find(service);
  if (users == users_.end()) return;
  for (const std::uint64_t id : users->second) {
    Backend& backend = backends_.at(id);
    const auto before = backend.endpoints;
    BackendName name{before->name_space, before->name};
    find_endpoints(backend, name);
    if (backend.endpoints == before) continue;
    *std::ranges::lower_bound(values_.backends, id, {}, id_of) = backend.endpoints;
    changed_backends_.insert(std::move(name));
    changed_ = true;
  }
  refresh_exports();
}

/// Only what is another is sent.
void ValueIndex::set_directory(ClusterDirectory directory) {
  directory_ = std::move(directory);
  for (auto& [id, backend] : backends_) {
    if (backend.clusters.empty()) continue;
    const auto before = backend.endpoints;
    BackendName name{before->name_space, before->name};
    set_endpoints(backend, name, std::vector(backend.own), std::vector(before->names));
    // Its condition tells which clusters there are.
    changed_backends_.insert(std::move(name));
    if (backend.endpoints == before) continue;
    *std::ranges::lower_bound(values_.backends, id, {}, id_of) = backend.endpoints;
    changed_ = true;
  }
  refresh_secret({std::string(program::kClusterSecretSpace), std::string(program::kClusterSecretName)});
}

void ValueIndex::follow_exports(const compiler::LinkedConfig& config) {
  std::vector<std::string> gateways;
  for (const compiler::LinkedGateway& gateway : config.gateways) {
    gateways.insert(gateways.end(), gateway.advertised.begin(), gateway.advertised.end());
  }
  std::ranges::sort(gateways);
  gateways.erase(std::ranges::unique(gateways).begin(), gateways.end());
  if (gateways.size() > kMostGateways) gateways.resize(kMostGateways);
  exports_changed_ |= gateways != own_exports_.gateways;
  own_exports_.gateways = std::move(gateways);
  exported_.clear();
  for (const compiler::LinkedRoute& route : config.routes) {
    if (route.identity.kind != "ServiceExport" || route.listeners.empty()) continue;
    for (const compiler::LinkedRule& rule : route.rules) {
      if (rule.backends.empty() || !rule.backends.front().backend) continue;
      const compiler::Identity& backend = config.backends[*rule.backends.front().backend].identity;
      const std::uint64_t id = stable_id("ProxyBackend", backend.name_space, backend.name);
      for (const compiler::RuleMatch& match : rule.matches) {
        if (match.headers.empty() || exported_.size() >= kMostExports) continue;
        exported_.emplace(match.headers.front().value.value, id);
      }
    }
  }
  refresh_exports();
}

void ValueIndex::refresh_exports() {
  std::map<std::string, std::uint8_t> services;
  for (const auto& [service, id] : exported_) {
    std::uint64_t all = 0;
    std::uint64_t ready = 0;
    if (const auto found = backends_.find(id); found != backends_.end()) {
      for (const program::Endpoint& endpoint : found->second.own) {
        all += endpoint.weight;
        if (endpoint.ready) ready += endpoint.weight;
      }
    }
    services[service] = static_cast<std::uint8_t>(all == 0 ? 0 : ready * 100 / all);
  }
  if (services == own_exports_.services) return;
  own_exports_.services = std::move(services);
  exports_changed_ = true;
}

/// Those values that the program names, ascending by key; null: none of them is there.
std::shared_ptr<const program::NamedSecret> ValueIndex::find_secret(const SecretName& name,
                                                                    const std::set<std::string>& keys) const {
  if (const auto files = program::files_of_secret(name.second)) {
    const net::tls::CertificateFiles::Pair* const pair = files_.find({files->certificate, files->key});
    if (pair == nullptr) return nullptr;
    return std::make_shared<const program::NamedSecret>(
        program::NamedSecret{name.first,
                             name.second,
                             {{std::string(program::kCertificateKey), pair->certificate},
                              {std::string(program::kPrivateKeyKey), pair->key}}});
  }
  if (name.second == program::kClusterSecretName) {
    return name.first == program::kClusterSecretSpace ? directory_.identity : nullptr;
  }
  if (program::is_ordered_secret(name.second)) return find_bundle(name);
  const model::Secret* const secret = held_secret(name);
  if (secret == nullptr) return nullptr;
  program::NamedSecret named{name.first, name.second, {}};
  for (const model::SecretEntry& entry : secret->entries) {
    if (keys.contains(entry.key)) named.values.push_back({entry.key, entry.value});
  }
  if (named.values.empty()) return nullptr;
  std::ranges::sort(named.values, {}, &program::SecretValue::key);
  return std::make_shared<const program::NamedSecret>(std::move(named));
}

const model::Secret* ValueIndex::held_secret(const SecretName& name) const {
  const auto objects = secrets_.find(name);
  if (objects == secrets_.end()) return nullptr;
  // Of several objects that claim a name the one holds that holds in the linker.
  const model::Secret* held = nullptr;
  for (const std::string& object : objects->second) {
    for (const model::Secret& secret : objects_.at(object).secrets) {
      if (secret.metadata.name_space != name.first || secret.metadata.name != name.second) continue;
      const bool first =
          held == nullptr || compiler::link::precedence(secret.metadata) < compiler::link::precedence(held->metadata);
      if (first) held = &secret;
    }
  }
  return held;
}

void ValueIndex::refresh_secret(const SecretName& name) {
  if (on_demand_.contains(name)) {
    compose_ordered();
    ordered_changed_ = true;
    for (const auto& [bundle, hosts] : bundles_) refresh_secret_alone(bundle);
  }
  refresh_secret_alone(name);
  const auto bundles = bundles_of_secret_.find(name);
  if (bundles == bundles_of_secret_.end()) return;
  for (const SecretName& bundle : bundles->second) refresh_secret_alone(bundle);
}

void ValueIndex::refresh_secret_alone(const SecretName& name) {
  const auto keys = named_.find(name);
  const auto secret = keys == named_.end() ? nullptr : find_secret(name, keys->second);
  const std::pair<std::string_view, std::string_view> wanted(name.first, name.second);
  const auto at = std::ranges::lower_bound(values_.secrets, wanted, {}, name_of);
  const bool there = at != values_.secrets.end() && name_of(*at) == wanted;
  if (secret == nullptr) {
    if (!there) return;
    values_.secrets.erase(at);
  } else if (!there) {
    values_.secrets.insert(at, secret);
  } else if (**at == *secret) {
    return;
  } else {
    *at = secret;
  }
  changed_ = true;
}

std::vector<program::Endpoint> ValueIndex::allowed(std::vector<program::Endpoint> endpoints) const {
  if (node_addresses_ == NodeAddresses::kAllowed) return endpoints;
  std::erase_if(endpoints, [](const program::Endpoint& endpoint) { return is_node_address(endpoint.address); });
  return endpoints;
}

void ValueIndex::follow(const compiler::LinkedConfig& config) {
  std::map<std::uint64_t, Backend> backends = std::exchange(backends_, {});
  users_.clear();
  std::vector<std::shared_ptr<const program::BackendEndpoints>> all;
  for (const compiler::LinkedBackend& linked : config.backends) {
    const compiler::Identity& identity = linked.identity;
    if (identity.name.empty()) continue;  // a place that is free (compiler/workspace_link.h)
    BackendName name{identity.name_space, identity.name};
    const std::uint64_t id = stable_id("ProxyBackend", name.first, name.second);
    const auto known = backends.find(id);
    Backend& backend = backends_[id];
    if (known != backends.end()) {
      backend.endpoints = known->second.endpoints;
      backend.own = known->second.own;
    }
    backend.clusters = linked.failover.clusters;
    const bool same =
        known != backends.end() && same_source(known->second.source, linked.source) && !linked.source.name.empty();
    backend.source = linked.source;
    backend.ejection_percent = compiler::link::ejection_percent(linked);
    const auto before = backend.endpoints;
    if (linked.has_own_endpoints()) {
      set_endpoints(backend, name, allowed(linked.endpoints), linked.names);
    } else if (linked.is_remote()) {
      set_endpoints(backend, name, {});
    } else if (!same || !backend.clusters.empty() || !known->second.clusters.empty()) {
      find_endpoints(backend, name);
    }
    if (backend.endpoints != before) changed_backends_.insert(std::move(name));
    if (!linked.has_own_endpoints()) users_[key_of(linked.source.name_space, linked.source.name)].push_back(id);
  }
  for (const auto& [id, backend] : backends) {
    if (!backends_.contains(id)) changed_backends_.insert({backend.endpoints->name_space, backend.endpoints->name});
  }
  for (const auto& [id, backend] : backends_) all.push_back(backend.endpoints);
  follow_exports(config);
  changed_ |= all != values_.backends;
  values_.backends = std::move(all);

  std::map<SecretName, std::set<std::string>> before = std::exchange(named_, {});
  for (compiler::SecretKey& key : compiler::link::secret_names(config)) {
    named_[{std::move(key.name_space), std::move(key.name)}].insert(std::move(key.key));
  }
  follow_files();
  follow_ordered(config);
  for (const auto& [name, keys] : named_) {
    const auto known = before.find(name);
    const bool other_hosts = program::is_ordered_secret(name.second);
    if (known == before.end() || known->second != keys || other_hosts) refresh_secret(name);
  }
  for (const auto& [name, keys] : before) {
    if (!named_.contains(name)) refresh_secret(name);
  }
}

void ValueIndex::follow_files() {
  std::set<net::tls::CertificateFiles::Names> pairs;
  for (const auto& [name, keys] : named_) {
    // Those of another cluster's gateways are files of that one's machines.
    if (name.first.find(':') != std::string::npos) continue;
    if (auto files = program::files_of_secret(name.second)) {
      pairs.insert({std::move(files->certificate), std::move(files->key)});
    }
  }
  files_.follow(pairs);
}

bool ValueIndex::look_at_files() {
  if (!files_.look()) return false;
  for (const auto& [name, keys] : named_) {
    if (program::files_of_secret(name.second)) refresh_secret(name);
  }
  return changed_;
}

/// Which of the clusters that a backend names can serve it, and what the others lack.
std::vector<compiler::Condition> ValueIndex::cluster_conditions(const Backend& backend) const {
  std::string serve;
  std::string lack;
  const auto add = [](std::string& text, const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  for (const compiler::LinkedCluster& ref : backend.clusters) {
    const auto exporting = compiler::link::exporting(ref, directory_.clusters);
    for (const auto* one : exporting) {
      const std::string share = std::to_string(one->services.at(ref.service)) + "% healthy";
      const bool reached = !one->gateways.empty() || !ref.gateways.empty();
      add(reached ? serve : lack, one->name + (reached ? " (" + share + ")" : " tells no address of a gateway"));
    }
    if (!exporting.empty()) continue;
    const auto known = std::ranges::find(directory_.clusters, ref.cluster, &compiler::link::ExportingCluster::name);
    if (!ref.gateways.empty()) {
      add(serve, ref.cluster + " (by its written address)");
    } else if (ref.cluster == program::kAnyCluster) {
      add(lack, "no cluster exports " + ref.service);
    } else if (known == directory_.clusters.end()) {
      add(lack, "the cluster " + ref.cluster +
                    " is not known: it has not connected to the hub, or nothing of it is passed on");
    } else {
      add(lack, "the cluster " + ref.cluster + " does not export " + ref.service);
    }
  }
  if (directory_.identity == nullptr) {
    serve.clear();
    lack =
        "this cluster has no certificate for others: it has not connected to a hub, and no cluster has connected to it";
  }
  const bool whole = lack.empty();
  return {{std::string(compiler::condition::kClustersReady),
           whole ? compiler::ConditionStatus::kTrue : compiler::ConditionStatus::kFalse,
           std::string(whole ? compiler::reason::kExported : compiler::reason::kNotExported),
           lack + (lack.empty() || serve.empty() ? "" : "; ") + (serve.empty() ? "" : "served by " + serve)}};
}

std::vector<compiler::Condition> ValueIndex::conditions_of(const BackendName& backend) const {
  const auto found = backends_.find(stable_id("ProxyBackend", backend.first, backend.second));
  if (found == backends_.end()) return {};
  const Backend& known = found->second;
  if (!known.clusters.empty()) return cluster_conditions(known);
  // How many endpoints names stand for is known to agents alone.
  if (!known.endpoints->names.empty()) return {};
  if (const std::size_t endpoints = known.endpoints->endpoints.size(); endpoints != 0) {
    auto condition = compiler::link::no_ejection(known.ejection_percent, endpoints);
    if (!condition) return {};
    return {*std::move(condition)};
  }
  if (!known.source.name.empty()) return {compiler::link::no_endpoints(known.source)};
  return {{std::string(compiler::condition::kHealthy), compiler::ConditionStatus::kFalse,
           std::string(compiler::reason::kNoEndpoints),
           "every address of `spec.endpoints` is one of the agents' own nodes, which are not called in a cluster; "
           "requests are answered 503"}};
}

}  // namespace edge::controller
