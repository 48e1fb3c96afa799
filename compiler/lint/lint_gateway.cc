#include "compiler/lint/finding.h"
#include "compiler/lint/hostnames.h"
#include "compiler/lint/lint.h"

namespace edge::compiler::lint {
namespace {

using model::Listener;

std::string listener_field(const Listener& listener, std::string_view field) {
  return indexed("spec.listeners", listener.position) + "." + std::string(field);
}

/// Without a certificate no handshake succeeds: the listener only looks as if it served.
void certificate(const model::ProxyGateway& gateway, const Listener& listener, Diagnostics& diagnostics) {
  const bool passes_through = listener.tls && listener.tls->mode && listener.tls->mode->value == "Passthrough";
  const bool terminates = listener.protocol.value == "HTTPS" ||
                          (listener.protocol.value == "TLS" && listener.tls && listener.tls->mode && !passes_through);
  const bool has_one =
      listener.tls && (!listener.tls->certificates.empty() || listener.tls->certificate_file || listener.tls->acme);
  if (!terminates || passes_through || has_one || gateway.clusters) return;
  Diagnostic found = warning(owner_of(gateway, listener),
                             {.code = DiagnosticCode::kNoCertificate,
                              .span = listener.tls ? listener.tls->span : listener.protocol.span,
                              .field = listener_field(listener, "tls"),
                              .message = "the listener " + in_quotes(listener.name.value) + " has no certificate",
                              .fix = "name a secret of type `kubernetes.io/tls` in `tls.secretRef`, or files in "
                                     "`tls.certFile` and `tls.keyFile`"});
  found.notes.emplace_back("no TLS handshake with it can succeed, whatever host name the client asks for");
  diagnostics.add(std::move(found));
}

/// Whoever may name the client's address may be any client: rules on `source_ip` and rate limits then keep nobody out.
void trusted_proxies(const model::ProxyGateway& gateway, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < gateway.trusted_proxies.size(); ++i) {
    const Located<Cidr>& block = gateway.trusted_proxies[i];
    constexpr std::uint8_t kMappedV4 = 96;
    const bool everybody = block->prefix_length == 0 || (block->prefix_length == kMappedV4 && block->address.is_v4());
    if (!everybody) continue;
    Diagnostic found = warning(gateway.metadata, {.code = DiagnosticCode::kTrustsEverybody,
                                                  .span = block.span,
                                                  .field = indexed("spec.trustedProxies", i),
                                                  .message = "every client is trusted to name its own address",
                                                  .fix = "list the addresses of the proxies in front of this one"});
    found.notes.emplace_back("`X-Forwarded-For` then decides what `source_ip` and rate limits see");
    diagnostics.add(std::move(found));
  }
}

}  // namespace

void lint(const model::ProxyGateway& gateway, Diagnostics& diagnostics) {
  for (const Listener& listener : gateway.listeners) {
    certificate(gateway, listener, diagnostics);
    lint_hostnames(owner_of(gateway, listener), listener.hostnames, listener_field(listener, "hostnames"), diagnostics);
  }
  trusted_proxies(gateway, diagnostics);
}

}  // namespace edge::compiler::lint
