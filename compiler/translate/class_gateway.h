// The generated gateway of an IngressClass that names none: plain HTTP for every host, and HTTPS for each host with a
// certificate.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::translate {

/// The namespace of generated gateways; VIPs of this namespace serve every gateway.
inline constexpr std::string_view kGatewaySpace = "edge-system";
inline constexpr std::string_view kClassKind = "IngressClass";

class ClassGateway {
 public:
  ClassGateway(const model::IngressClass& ingress_class, Diagnostics& diagnostics);

  void certificates(const model::Ingress& ingress, model::ResourceSet& made);
  /// Adds redirects (rule D9) for the hosts of the Ingress that have certificates. A request belongs to the listener
  /// with the most specific name, so that each host gets a listener of its own.
  void redirects(const model::Ingress& ingress, Span span);

  model::ProxyGateway take() { return std::move(gateway_); }

 private:
  struct Held {
    model::Reference secret;
    Span span;
  };

  model::Listener& add(std::string name, std::int64_t port, std::string protocol, const model::Maybe<HostPattern>& host,
                       Span span);
  static void redirect(model::Listener& listener, Span span);
  void certificate(const model::Maybe<HostPattern>& host, const model::Reference& secret, const model::Ingress& ingress,
                   Span span);

  Diagnostics& diagnostics_;
  model::ProxyGateway gateway_;
  std::map<std::string, Held> held_;
  std::set<std::string> redirected_;
};

}  // namespace edge::compiler::translate
