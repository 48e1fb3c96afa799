#include "compiler/translate/class_gateway.h"

#include <utility>

namespace edge::compiler::translate {
namespace {

constexpr std::string_view kNetworkingGroup = "networking.k8s.io";

}  // namespace

ClassGateway::ClassGateway(const model::IngressClass& ingress_class, Diagnostics& diagnostics)
    : diagnostics_(diagnostics) {
  gateway_.metadata = ingress_class.metadata;
  gateway_.metadata.name_space = kGatewaySpace;
  gateway_.takes_from_pool = true;
  add("http", 80, "HTTP", {}, ingress_class.metadata.span);
}

void ClassGateway::certificates(const model::Ingress& ingress, model::ResourceSet& made) {
  for (const model::IngressTls& tls : ingress.tls) {
    if (!tls.secret) continue;
    const model::Reference secret{.name = *tls.secret, .name_space = ingress.metadata.name_space};
    if (tls.hosts.empty()) certificate(std::nullopt, secret, ingress, tls.span);
    for (const auto& host : tls.hosts) certificate(host, secret, ingress, tls.span);
    // An Ingress speaks for the secrets of its namespace.
    made.grants.push_back({.metadata = {.kind = "ReferenceGrant",
                                        .name_space = ingress.metadata.name_space,
                                        .name = ingress.metadata.name,
                                        .span = ingress.metadata.span},
                           .from = {{.group = std::string(kNetworkingGroup),
                                     .kind = std::string(kClassKind),
                                     .name_space = std::string(kGatewaySpace)}},
                           .to = {{.group = {}, .kind = "Secret", .name = tls.secret->value}}});
  }
}

void ClassGateway::redirects(const model::Ingress& ingress, Span span) {
  for (const model::IngressTls& tls : ingress.tls) {
    if (!tls.secret) continue;
    if (tls.hosts.empty()) redirect(gateway_.listeners[0], span);
    for (const auto& host : tls.hosts) {
      const std::string name = "http:" + host.value.text();
      if (redirected_.insert(name).second) redirect(add(name, 80, "HTTP", host, host.span), span);
    }
  }
}

model::Listener& ClassGateway::add(std::string name, std::int64_t port, std::string protocol,
                                   const model::Maybe<HostPattern>& host, Span span) {
  model::Listener listener{
      .span = span, .name = {std::move(name), span}, .port = {port, span}, .protocol = {std::move(protocol), span}};
  if (host) listener.hostnames.push_back(*host);
  listener.allowed_routes =
      model::AllowedRoutes{.from = model::AllowedRoutes::From::kAll,
                           .kinds = {{.group = std::string(kNetworkingGroup), .kind = "Ingress", .span = span}}};
  listener.position = static_cast<std::uint32_t>(gateway_.listeners.size());
  gateway_.listeners.push_back(std::move(listener));
  return gateway_.listeners.back();
}

void ClassGateway::redirect(model::Listener& listener, Span span) {
  listener.redirect_scheme = model::RedirectScheme{.span = span, .enabled = Located<bool>{true, span}};
}

void ClassGateway::certificate(const model::Maybe<HostPattern>& host, const model::Reference& secret,
                               const model::Ingress& ingress, Span span) {
  const std::string name = host ? host->value.text() : std::string();
  const auto [held, added] = held_.try_emplace(name, Held{secret, span});
  if (added) {
    model::Listener& listener = add("https" + std::string(name.empty() ? "" : ":") + name, 443, "HTTPS", host, span);
    listener.tls = model::Tls{.span = span, .certificates = {secret}};
    return;
  }
  if (same(held->second.secret, secret)) return;
  diagnostics_.add(
      {.code = DiagnosticCode::kConflict,
       .severity = Severity::kWarning,
       .resource = ingress.metadata.text(),
       .field = "spec.tls",
       .span = secret.name.span,
       .message = (name.empty() ? "every host" : "`" + name + "`") + " already has a certificate; this one is left out",
       .labels = {{held->second.secret.name.span, "the one that holds"}},
       .notes = {"of two claims the older Ingress's holds"}});
}

}  // namespace edge::compiler::translate
