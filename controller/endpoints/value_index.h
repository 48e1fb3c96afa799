// Endpoints and secrets outside of the compile path: takes objects of the cluster, and provides the values of the
// newest program and their changes. The cost of a change is proportional to what depends on it: an EndpointSlice leads
// by its Service to the backends that refer to it, a Secret to whether the program refers to it. Nothing is linked or
// compiled.
//
//   EndpointSlice -> Service -> backends -> program::ValueSet <- Secret, ConfigMap
//                                  ^
//                  LinkedConfig: the backends and their Services; the secrets referred to
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/link/linked_config.h"
#include "compiler/link/ordered_certificates.h"
#include "compiler/model/resource_set.h"
#include "controller/endpoints/cluster_directory.h"
#include "net/tls/certificate_files.h"
#include "program/values/value_set.h"

namespace edge::controller {

/// Whether `spec.endpoints` of a ProxyBackend may be addresses of the agents' own nodes: loopback and link-local
/// (base/ip/node_addresses.h), which a cluster's API rejects in EndpointSlices too.
enum class NodeAddresses : std::uint8_t { kAllowed, kLeftOut };

/// Not thread-safe. Objects have the names of documents, which are unique.
class ValueIndex {
 public:
  /// Namespace and name of a ProxyBackend, or of one derived from a Service and its port.
  using BackendName = std::pair<std::string, std::string>;

  /// `certificate_directories`: where listeners may refer to certificate files.
  explicit ValueIndex(NodeAddresses node_addresses = NodeAddresses::kAllowed,
                      std::vector<std::string> certificate_directories = {})
      : node_addresses_(node_addresses), files_(std::move(certificate_directories)) {}

  /// Returns whether objects of a kind have values.
  static bool holds(std::string_view kind);
  /// Returns whether a compiler reads objects of this kind too.
  static bool leaves_something(std::string_view kind);

  /// Adds or replaces an object, in the form that the compiler reads. \returns what the compiler should read instead,
  /// which stays the same while programs are not affected: a Secret without its values; nothing (nullopt) for
  /// endpoints. An invalid Secret is passed to the compiler unchanged, and has no values.
  std::optional<std::string> put(std::string_view kind, const std::string& object, const std::string& document);
  void remove(const std::string& object);
  /// Sets the configuration that programs are made from. Linear in its backends and references.
  void follow(const compiler::LinkedConfig& config);

  /// Returns the certificates that the configuration needs from CAs. Their values are those of Secrets, as for others.
  const std::shared_ptr<const compiler::OrderedCertificates>& ordered() const { return ordered_; }
  /// Returns whether what is ordered has changed since the last call, by a name that a client has asked for.
  bool take_ordered_changed() { return std::exchange(ordered_changed_, false); }
  /// Returns whether the program refers to certificate files.
  bool follows_files() const { return files_.follows_any(); }
  /// Reads the files that changed. \returns whether values have changed.
  bool look_at_files();
  /// Returns log messages about files since the last call.
  std::vector<net::tls::CertificateFiles::Line> take_lines() { return files_.take_lines(); }

  /// Returns everything that the program needs and that exists.
  const program::ValueSet& values() const { return values_; }
  /// Returns whether the values have changed since the last call.
  bool take_changed() { return std::exchange(changed_, false); }
  /// Returns the backends whose endpoints have changed since the last call.
  std::set<BackendName> take_changed_backends() { return std::exchange(changed_backends_, {}); }
  /// Returns what this cluster exports to others: where its gateway for them is, and which services it has for them.
  const OwnExports& own_exports() const { return own_exports_; }
  /// Returns whether it is another since the last call.
  bool take_exports_changed() { return std::exchange(exports_changed_, false); }
  /// Returns conditions of a backend from its endpoints: that it has none, or too few for ejection. Empty: none, or
  /// there is no such backend.
  std::vector<compiler::Condition> conditions_of(const BackendName& backend) const;

 private:
  using SecretName = std::pair<std::string, std::string>;
  /// The values of one object.
  struct Held {
    std::vector<compiler::model::EndpointSlice> slices;
    std::vector<compiler::model::Secret> secrets;  ///< including ConfigMaps with CAs
  };
  struct Backend {
    compiler::EndpointSource source;
    std::optional<std::uint8_t> ejection_percent;  ///< nullopt: no passive check
    std::vector<compiler::LinkedCluster> clusters{};
    std::vector<program::Endpoint> own{};  ///< its endpoints without those of other clusters' gateways
    std::shared_ptr<const program::BackendEndpoints> endpoints;
  };
  void replace(const std::string& object, Held next);
  void find_endpoints(Backend& backend, const BackendName& name) const;
  void set_endpoints(Backend& backend, const BackendName& name, std::vector<program::Endpoint> endpoints,
                     std::vector<program::EndpointName> names = {}) const;
  std::vector<program::Endpoint> allowed(std::vector<program::Endpoint> endpoints) const;
  void refresh_backends(const std::string& service);
  std::vector<compiler::Condition> cluster_conditions(const Backend& backend) const;
  void set_directory(ClusterDirectory directory);
  void follow_exports(const compiler::LinkedConfig& config);
  void refresh_exports();
  void refresh_secret(const SecretName& name);
  void refresh_secret_alone(const SecretName& name);
  void follow_ordered(const compiler::LinkedConfig& config);
  void compose_ordered();
  std::vector<std::string> names_on_demand(const compiler::OrderedBundle& bundle) const;
  /// Of the certificates that are ordered for one listener those that are there.
  std::shared_ptr<const program::NamedSecret> find_bundle(const SecretName& name) const;
  const compiler::model::Secret* held_secret(const SecretName& name) const;
  /// Updates the list of files in `files_` to those of the program.
  void follow_files();
  std::shared_ptr<const program::NamedSecret> find_secret(const SecretName& name,
                                                          const std::set<std::string>& keys) const;

  NodeAddresses node_addresses_;
  net::tls::CertificateFiles files_;
  std::unordered_map<std::string, Held> objects_;
  std::unordered_map<std::string, std::set<std::string>> slices_;      ///< objects with slices, by `namespace/service`
  std::map<SecretName, std::set<std::string>> secrets_;                ///< objects with the secret
  std::map<std::uint64_t, Backend> backends_;                          ///< of the program, by id
  std::unordered_map<std::string, std::vector<std::uint64_t>> users_;  ///< of each `namespace/service`
  std::map<SecretName, std::set<std::string>> named_;                  ///< keys that the program names
  ClusterDirectory directory_;
  /// What is exported: the backend of each, by what the gateway is asked for.
  std::map<std::string, std::uint64_t> exported_;
  OwnExports own_exports_;
  bool exports_changed_ = false;
  compiler::OrderedCertificates ordered_base_;   ///< without names on demand
  std::map<SecretName, std::size_t> on_demand_;  ///< positions in its bundles, by the Secret with their names
  bool ordered_changed_ = false;
  std::shared_ptr<const compiler::OrderedCertificates> ordered_;
  struct Bundle {
    std::vector<std::string> hosts{};
    std::shared_ptr<const std::string> patterns{};  ///< of names on demand; null: there are none
  };
  std::map<SecretName, Bundle> bundles_;  ///< by the name that the program has
  std::map<SecretName, std::set<SecretName>> bundles_of_secret_;
  program::ValueSet values_;
  std::set<BackendName> changed_backends_;
  bool changed_ = false;
};

}  // namespace edge::controller
