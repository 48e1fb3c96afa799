// Endpoints and secrets apart from the compile path: objects of the cluster in, values of the newest program out, and
// what changed of them. A change costs what hangs on it: an EndpointSlice leads by its Service to the backends that
// name that, a Secret to whether the program names it. Nothing is linked or compiled for it.
//
//   EndpointSlice -> Service -> backends -> program::ValueSet <- Secret, ConfigMap
//                                  ^
//                  LinkedConfig: which backends there are, of which Services; which secrets are named
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
#include "compiler/model/resource_set.h"
#include "net/tls/certificate_files.h"
#include "program/values/value_set.h"

namespace edge::controller {

/// Whether `spec.endpoints` of a ProxyBackend may lead to the agents' own nodes: their loopback and link-local
/// addresses (base/ip/node_addresses.h), which a cluster's API takes in no EndpointSlice either.
enum class NodeAddresses : std::uint8_t { kAllowed, kLeftOut };

/// Not thread-safe. Objects are named as documents are: each has one name, and each name one object.
class ValueIndex {
 public:
  /// Namespace and name of a ProxyBackend, or of one that was made of a Service and its port.
  using BackendName = std::pair<std::string, std::string>;

  /// `certificate_directories`: below which listeners may have files of certificates.
  explicit ValueIndex(NodeAddresses node_addresses = NodeAddresses::kAllowed,
                      std::vector<std::string> certificate_directories = {})
      : node_addresses_(node_addresses), files_(std::move(certificate_directories)) {}

  /// Whether objects of a kind have values.
  static bool holds(std::string_view kind);
  /// Whether a compiler reads objects of a kind, too.
  static bool leaves_something(std::string_view kind);

  /// An object that is new or another than it was, as the compiler would read it. \returns what a compiler is to read
  /// in its place, which is the same as long as it makes no difference to a program: of a Secret all but its values; of
  /// endpoints nothing, nullopt. A Secret at fault is left to the compiler as it is, and has no values.
  std::optional<std::string> put(std::string_view kind, const std::string& object, const std::string& document);
  void remove(const std::string& object);
  /// `config` is what programs are made of from now on. Linear in its backends and in what it names.
  void follow(const compiler::LinkedConfig& config);

  /// Whether the program names files of certificates.
  bool follows_files() const { return files_.follows_any(); }
  /// Reads those that changed. \returns whether values are others for it.
  bool look_at_files();
  /// What is to be told of files since the last call.
  std::vector<net::tls::CertificateFiles::Line> take_lines() { return files_.take_lines(); }

  /// All that the program needs, less what there is not.
  const program::ValueSet& values() const { return values_; }
  /// Whether they are others than at the last call.
  bool take_changed() { return std::exchange(changed_, false); }
  /// Backends with other endpoints than at the last call.
  std::set<BackendName> take_changed_backends() { return std::exchange(changed_backends_, {}); }
  /// What is to be said of a backend by its endpoints: that it has none, or too few for one to be ejected. Empty:
  /// nothing, or there is no such backend.
  std::vector<compiler::Condition> conditions_of(const BackendName& backend) const;

 private:
  using SecretName = std::pair<std::string, std::string>;
  /// What an object has.
  struct Held {
    std::vector<compiler::model::EndpointSlice> slices;
    std::vector<compiler::model::Secret> secrets;  ///< ConfigMaps with authorities among them
  };
  struct Backend {
    compiler::EndpointSource source;
    std::optional<std::uint8_t> ejection_percent;  ///< nullopt: no passive check
    std::shared_ptr<const program::BackendEndpoints> endpoints;
  };
  void replace(const std::string& object, Held next);
  void find_endpoints(Backend& backend, const BackendName& name) const;
  static void set_endpoints(Backend& backend, const BackendName& name, std::vector<program::Endpoint> endpoints,
                            std::vector<program::EndpointName> names = {});
  std::vector<program::Endpoint> allowed(std::vector<program::Endpoint> endpoints) const;
  void refresh_backends(const std::string& service);
  void refresh_secret(const SecretName& name);
  /// Gives `files_` those that the program names.
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
  program::ValueSet values_;
  std::set<BackendName> changed_backends_;
  bool changed_ = false;
};

}  // namespace edge::controller
