// Maps Services in routes of Gateway API and Ingress to ProxyBackends: one backend for each port of a Service that is
// referred to.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"
#include "compiler/translate/translate.h"

namespace edge::compiler::translate {

/// Settings of a backend from one route, such as an Ingress's annotations; backends of the same Service for other
/// routes are not affected.
struct BackendOptions {
  std::string suffix{};  ///< distinguishes the backend; empty: no options
  model::Maybe<model::Duration> connect_timeout{};
  model::Maybe<std::string> lb_policy{};
  model::Maybe<std::string> protocol{};
  /// Endpoints use TLS, verified as a BackendTLSPolicy says, else by `authority`. Without either no request is sent.
  Span needs_tls{};
  /// A Secret of the namespace with `ca.crt`, and optionally a client certificate.
  model::Maybe<std::string> authority{};
  /// The name in their certificates; by default the name of the Service, `shop.default.svc`.
  model::Maybe<std::string> server_name{};
};

class ServiceBackends {
 public:
  /// Adds to `made`, by `namespace/name`.
  ServiceBackends(const model::ResourceSet& resources, std::map<std::string, MadeBackend>& made,
                  Diagnostics& diagnostics);

  /// Returns the reference of a route `from` to a port of a Service. A missing Service is left to linking, which also
  /// checks the grant; a missing port is reported here and answers 500.
  model::BackendRef refer(const model::Metadata& from, const model::Reference& service,
                          const Located<model::PortRef>& port, std::string field, const BackendOptions& options = {});
  /// Returns the reference to the target of an ObjectRef: a Service, or a ProxyBackend. Other kinds answer 500.
  model::BackendRef refer(const model::Metadata& from, const model::ObjectRef& ref, const std::string& field,
                          const BackendOptions& options = {});

  /// Null: there is none.
  const model::Service* find_service(const std::string& name_space, const std::string& name) const;

  /// Returns the backends that are referred to, by name, with TLS as BackendTLSPolicies say; repeats the diagnostics of
  /// their creation.
  std::vector<model::ProxyBackend> all() const;

 private:
  model::BackendRef refer_import(const model::Metadata& from, const model::ObjectRef& ref, const std::string& field,
                                 const BackendOptions& options);
  void apply_tls(MadeBackend& made, const model::Service& service) const;
  /// From BackendOptions. nullopt: there is no CA, which is reported.
  std::optional<model::BackendTls> tls_of_options(const model::Metadata& from, const model::Service& service,
                                                  const BackendOptions& options, Diagnostics& said) const;
  void index_tls_policies();
  bool authority_known(const model::BackendTlsPolicy& policy, const model::ObjectRef& authority,
                       Diagnostics& diagnostics) const;
  static bool names_told(const model::BackendTlsPolicy& policy, Diagnostics& diagnostics);
  void unknown_port(const model::Metadata& from, const model::Service& service, const Located<model::PortRef>& port,
                    std::string field, bool udp);

  const model::ResourceSet& resources_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::string, const model::Service*> services_;                        ///< by namespace/name
  std::unordered_map<std::string, const model::ServiceImport*> imports_;                   ///< likewise
  std::unordered_map<std::string, std::vector<const model::BackendTlsPolicy*>> policies_;  ///< oldest first
  std::map<std::string, MadeBackend>& made_;                                               ///< by namespace/name
};

}  // namespace edge::compiler::translate
