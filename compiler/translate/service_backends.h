// Routes of Gateway API and Ingress name Services, the own model ProxyBackends: one backend for each port of a Service
// that something refers to.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"
#include "compiler/translate/translate.h"

namespace edge::compiler::translate {

/// Settings of a backend that one route asks for, as an Ingress does by annotations; others' backends of the same
/// Service keep theirs.
struct BackendOptions {
  std::string suffix{};  ///< told apart by it; empty: no options
  model::Maybe<model::Duration> connect_timeout{};
  model::Maybe<std::string> lb_policy{};
  model::Maybe<std::string> protocol{};
  /// Endpoints are called over TLS: what they have to show a BackendTLSPolicy says, else `authority`. Without either
  /// they are not called.
  Span needs_tls{};
  /// A Secret of the namespace with `ca.crt`, and perhaps with what is shown to the endpoints.
  model::Maybe<std::string> authority{};
  /// What their certificates are for; without it the name of the Service, `shop.default.svc`.
  model::Maybe<std::string> server_name{};
};

class ServiceBackends {
 public:
  /// Adds to `made`, by `namespace/name`.
  ServiceBackends(const model::ResourceSet& resources, std::map<std::string, MadeBackend>& made,
                  Diagnostics& diagnostics);

  /// The reference of a route `from` to a port of a Service. A Service that is not there is left to linking, which
  /// also asks for the grant; a port that it does not have is reported here and answers 500.
  model::BackendRef refer(const model::Metadata& from, const model::Reference& service,
                          const Located<model::PortRef>& port, std::string field, const BackendOptions& options = {});
  /// The reference to what an ObjectRef names: a Service, or a ProxyBackend. Other kinds answer 500.
  model::BackendRef refer(const model::Metadata& from, const model::ObjectRef& ref, const std::string& field,
                          const BackendOptions& options = {});

  /// The backends that are referred to, by name, with the TLS that BackendTLSPolicies ask for; what was said while they
  /// were made is said again.
  std::vector<model::ProxyBackend> all() const;

 private:
  void apply_tls(MadeBackend& made, const model::Service& service) const;
  /// By BackendOptions. nullopt: there is no authority, which is told.
  std::optional<model::BackendTls> tls_of_options(const model::Metadata& from, const model::Service& service,
                                                  const BackendOptions& options, Diagnostics& said) const;
  void index_tls_policies();
  bool authority_known(const model::BackendTlsPolicy& policy, const model::ObjectRef& authority,
                       Diagnostics& diagnostics) const;
  static bool names_told(const model::BackendTlsPolicy& policy, Diagnostics& diagnostics);
  void unknown_port(const model::Metadata& from, const model::Service& service, const Located<model::PortRef>& port,
                    std::string field);

  const model::ResourceSet& resources_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::string, const model::Service*> services_;                        ///< by namespace/name
  std::unordered_map<std::string, std::vector<const model::BackendTlsPolicy*>> policies_;  ///< oldest first
  std::map<std::string, MadeBackend>& made_;                                               ///< by namespace/name
};

}  // namespace edge::compiler::translate
