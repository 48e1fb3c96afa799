// Lints over several resources. A configuration without routes is assumed to be part of a larger one: its unused
// backends are not reported.
#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "compiler/lint/credentials.h"
#include "compiler/lint/finding.h"
#include "compiler/lint/keys.h"
#include "compiler/lint/lint.h"

namespace edge::compiler::lint {
namespace {

using model::Metadata;
using model::PolicyTarget;
using model::ProxyBackend;
using model::ProxyGateway;
using model::ProxyPolicy;
using model::ProxyRoute;

template <typename Resource>
using ByName = std::unordered_map<std::string, const Resource*>;

/// Of doubles the one that linking keeps.
template <typename Resource>
ByName<Resource> by_name(const std::vector<Resource>& resources) {
  ByName<Resource> index;
  index.reserve(resources.size());
  for (const Resource& resource : resources) {
    const Resource*& kept = index[key_of(resource.metadata)];
    const Metadata& metadata = resource.metadata;
    if (kept == nullptr ||
        std::tie(metadata.created, metadata.digest) < std::tie(kept->metadata.created, kept->metadata.digest)) {
      kept = &resource;
    }
  }
  return index;
}

class TogetherLinter {
 public:
  TogetherLinter(const model::ResourceSet& resources, Diagnostics& diagnostics)
      : resources_(resources),
        gateways_(by_name(resources.gateways)),
        routes_(by_name(resources.routes)),
        backends_(by_name(resources.backends)),
        diagnostics_(diagnostics) {}

  void run() {
    for (const ProxyRoute& route : resources_.routes) collect(route);
    for (const ProxyRoute& route : resources_.routes) {
      for (std::size_t rule = 0; rule < route.rules.size(); ++rule) {
        timeouts(route, rule);
        sent_credentials(route, rule);
      }
    }
    for (const ProxyPolicy* const next : policies_in_order()) {
      const ProxyPolicy& policy = *next;
      const auto* const forward = std::get_if<model::ForwardAuth>(&policy.settings);
      if (forward != nullptr && forward->backend) {
        used_.insert(key_of(forward->backend_kind, *forward->backend, policy.metadata));
      }
      selects(policy);
      passwords(policy);
      found_out(FoundOut::kClaim, policy);
      found_out(FoundOut::kIdentity, policy);
      certificates(policy);
      compressed(policy);
    }
    unused();
  }

 private:
  std::vector<const ProxyPolicy*> policies_in_order() const {
    std::vector<const ProxyPolicy*> policies;
    for (const ProxyPolicy& policy : resources_.policies) policies.push_back(&policy);
    std::ranges::sort(policies, is_before, [](const ProxyPolicy* policy) -> const auto& { return policy->metadata; });
    return policies;
  }

  /// What routes name, as keys.
  void collect(const ProxyRoute& route) {
    for (const model::ParentRef& parent : route.parents) {
      routes_of_gateway_[key_of(parent.kind, parent.gateway, route.metadata)].push_back(&route);
    }
    for (const model::Rule& rule : route.rules) {
      for (const model::BackendRef& backend : rule.backends) {
        used_.insert(key_of(backend.kind, backend.backend, route.metadata));
      }
      for (const model::Filter& filter : rule.filters) {
        if (filter.mirror) used_.insert(key_of(filter.mirror_kind, *filter.mirror, route.metadata));
      }
      if (rule.external_auth) {
        used_.insert(key_of(rule.external_auth->kind, rule.external_auth->backend, route.metadata));
      }
    }
  }

  const ProxyBackend* backend_of(const model::BackendRef& reference, const Metadata& from) const {
    const auto found = backends_.find(key_of(reference.kind, reference.backend, from));
    return found == backends_.end() ? nullptr : found->second;
  }

  static const char* timeout_field(const ProxyRoute& route) {
    return route.metadata.kind == "ProxyRoute" ? ".limits.requestTimeout" : ".timeouts.request";
  }

  /// The backend gives up first, so that the route's longer time never counts.
  void timeouts(const ProxyRoute& route, std::size_t index) {
    const model::Rule& rule = route.rules[index];
    if (!rule.request_timeout) return;
    for (const model::BackendRef& reference : rule.backends) {
      const ProxyBackend* backend = backend_of(reference, route.metadata);
      if (backend == nullptr || !backend->request_timeout) continue;
      const auto limit = backend->request_timeout->value;
      if (limit == model::Duration::zero() || rule.request_timeout->value <= limit) continue;
      Diagnostic found = warning(route.metadata, {.code = DiagnosticCode::kTimeoutAboveBackend,
                                                  .span = rule.request_timeout->span,
                                                  .field = indexed("spec.rules", index) + timeout_field(route),
                                                  .message = "the timeout is longer than that of the backend " +
                                                             in_quotes(backend->metadata.name),
                                                  .fix = "raise the backend's `timeout.request`, or lower this one"});
      found.labels.push_back({backend->request_timeout->span, "requests end here already"});
      diagnostics_.add(std::move(found));
    }
  }

  /// A credential that the proxy itself adds goes over the wire for everybody on it to read.
  void sent_credentials(const ProxyRoute& route, std::size_t index) {
    const model::Rule& rule = route.rules[index];
    for (std::size_t i = 0; i < rule.filters.size(); ++i) {
      const model::Filter& filter = rule.filters[i];
      if (filter.type != model::FilterType::kRequestHeaders) continue;
      for (const auto* changes : {&filter.headers.set, &filter.headers.add}) {
        for (const model::NameValue& change : *changes) {
          if (carries_credential(change.name.value)) sent_credential(route, index, i, change);
        }
      }
    }
  }

  void sent_credential(const ProxyRoute& route, std::size_t index, std::size_t filter, const model::NameValue& change) {
    const auto plain = std::ranges::find_if(route.rules[index].backends, [&](const model::BackendRef& reference) {
      const ProxyBackend* backend = backend_of(reference, route.metadata);
      return backend != nullptr && speaks_plain_http(*backend);
    });
    if (plain == route.rules[index].backends.end()) return;
    Diagnostic found =
        warning(route.metadata,
                {.code = DiagnosticCode::kCredentialInClear,
                 .span = change.name.span,
                 .field = indexed("spec.rules", index) + "." + indexed("filters", filter) + ".requestHeaderModifier",
                 .message = "the credential " + in_quotes(change.name.value) + " is sent to " +
                            in_quotes(plain->backend.name.value) + " over plain HTTP",
                 .fix = "reach the backend over TLS, or let the backend hold the credential itself"});
    found.labels.push_back({plain->backend.name.span, "a backend over plain HTTP"});
    found.notes.emplace_back("whoever can read the traffic between proxy and backend can use it");
    diagnostics_.add(std::move(found));
  }

  static bool speaks_plain_http(const ProxyBackend& backend) { return !backend.tls; }

  /// Nothing that is served is behind the policy.
  void selects(const ProxyPolicy& policy) {
    if (policy.target_kind == PolicyTarget::kUnknown) return;
    if (policy.target_kind == PolicyTarget::kNone) return named_by_no_filter(policy);
    const std::string target = key_of_target(policy);
    const std::string name = name_of(policy.target, policy.metadata);
    if (policy.target_kind == PolicyTarget::kRoute) {
      const auto route = routes_.find(target);
      if (route == routes_.end() || !route->second->parents.empty()) return;
      return idle(policy, "the route " + in_quotes(name) + " belongs to no gateway");
    }
    if (!gateways_.contains(target) || policy.section) return;
    const auto served = routes_of_gateway_.find(target);
    if (served == routes_of_gateway_.end()) {
      if (resources_.routes.empty()) return;
      return idle(policy, "no route belongs to the gateway " + in_quotes(name));
    }
    const auto& overridden = overriding_routes(policy.type.value);
    const bool all = std::ranges::all_of(
        served->second, [&](const ProxyRoute* route) { return overridden.contains(key_of(route->metadata)); });
    if (all) idle(policy, "every route of the gateway " + in_quotes(name) + " has a policy of this type of its own");
  }

  void named_by_no_filter(const ProxyPolicy& policy) {
    const auto names = [&](const model::ApiRoute& route) {
      return route.metadata.name_space == policy.metadata.name_space &&
             std::ranges::any_of(route.rules, [&](const model::ApiRule& rule) {
               return std::ranges::any_of(rule.extensions, [&](const model::ObjectRef& filter) {
                 return filter.kind == policy.metadata.kind && filter.to.name.value == policy.metadata.name;
               });
             });
    };
    if (std::ranges::any_of(resources_.api_routes, names)) return;
    diagnostics_.add(warning(policy.metadata, {.code = DiagnosticCode::kIdlePolicy,
                                               .span = policy.type.span,
                                               .field = "spec.targetRef",
                                               .message = "nothing is behind this policy: it has no target, and no "
                                                          "filter of type ExtensionRef names it",
                                               .fix = "set `targetRef`, or name it in a filter of a rule"}));
  }

  void idle(const ProxyPolicy& policy, std::string why) {
    Diagnostic found = warning(policy.metadata, {.code = DiagnosticCode::kIdlePolicy,
                                                 .span = policy.target.name.span,
                                                 .field = policy.target_field + ".name",
                                                 .message = "nothing is behind this policy: " + std::move(why),
                                                 .fix = "point it at what it is to apply to, or delete it"});
    diagnostics_.add(std::move(found));
  }

  /// Routes that have a policy of `type` themselves: it replaces the gateway's (decisions, References and scope).
  const std::unordered_set<std::string>& overriding_routes(model::PolicyType type) {
    if (overriding_.empty() && !resources_.policies.empty()) {
      for (const ProxyPolicy& policy : resources_.policies) {
        auto& routes = overriding_[policy.type.value];
        const bool whole = policy.target_kind == PolicyTarget::kRoute && !policy.target_rule && !policy.section;
        if (whole) routes.insert(key_of_target(policy));
      }
    }
    return overriding_[type];
  }

  /// Basic authentication sends the password with every request (RFC 7617 §4): not without TLS.
  void passwords(const ProxyPolicy& policy) {
    if (!std::holds_alternative<model::BasicAuth>(policy.settings)) return;
    std::vector<const ProxyGateway*> gateways;
    const std::string target = key_of_target(policy);
    const ProxyRoute* only = nullptr;
    if (policy.target_kind == PolicyTarget::kGateway) {
      if (const auto found = gateways_.find(target); found != gateways_.end()) gateways.push_back(found->second);
    } else if (const auto route = routes_.find(target); route != routes_.end()) {
      only = route->second;
      for (const model::ParentRef& parent : only->parents) {
        const auto found = gateways_.find(key_of(parent.kind, parent.gateway, only->metadata));
        if (found != gateways_.end() && !parent.section_name && !parent.port) gateways.push_back(found->second);
      }
    }
    for (const ProxyGateway* gateway : gateways) {
      const auto plain = std::ranges::find_if(gateway->listeners, [&](const model::Listener& listener) {
        return listener.protocol.value == "HTTP" && !redirects(listener) && !passed_by(*gateway, only);
      });
      if (plain == gateway->listeners.end()) continue;
      const bool annotated = policy.metadata.kind == "Ingress";
      Diagnostic found =
          warning(policy.metadata, {.code = DiagnosticCode::kPasswordInClear,
                                    .span = policy.type.span,
                                    .field = annotated ? "metadata.annotations" : "spec.type",
                                    .message = "passwords are asked for over plain HTTP, on the listener " +
                                               in_quotes(plain->name.value) + " of " + gateway->metadata.text(),
                                    .fix = annotated ? "add `tls`, and set the annotation `ssl-redirect` to \"true\""
                                                     : "serve the route on an HTTPS listener, and redirect this one to "
                                                       "it"});
      found.labels.push_back({plain->protocol.span, "nothing is encrypted here"});
      found.notes.emplace_back("basic authentication sends the password with every request, merely encoded");
      diagnostics_.add(std::move(found));
      return;
    }
  }

  std::vector<const ProxyGateway*> gateways_of(const ProxyPolicy& policy) const {
    std::vector<const ProxyGateway*> gateways;
    const std::string target = key_of_target(policy);
    const auto add = [&](const std::string& key) {
      if (const auto found = gateways_.find(key); found != gateways_.end()) gateways.push_back(found->second);
    };
    if (policy.target_kind == PolicyTarget::kGateway) {
      add(target);
    } else if (const auto route = routes_.find(target); route != routes_.end()) {
      for (const model::ParentRef& parent : route->second->parents) {
        add(key_of(parent.kind, parent.gateway, route->second->metadata));
      }
    }
    return gateways;
  }

  /// Browsers send what these ask for by themselves, also when another site has them ask: BREACH reads a secret in the
  /// response from its compressed size, which TLS does not hide. A note: whether there is one nobody can tell here.
  void compressed(const ProxyPolicy& policy) {
    const bool ambient = std::holds_alternative<model::BasicAuth>(policy.settings) ||
                         std::holds_alternative<model::Oidc>(policy.settings) ||
                         std::holds_alternative<model::ForwardAuth>(policy.settings);
    if (!ambient) return;
    for (const ProxyGateway* gateway : gateways_of(policy)) {
      const auto& compression = gateway->compression;
      if (!compression || !compression->enabled || !compression->enabled->value || compression->credentials) continue;
      const bool encrypts = std::ranges::any_of(
          gateway->listeners, [](const model::Listener& listener) { return listener.protocol.value == "HTTPS"; });
      if (!encrypts || !told_compressed_.insert(key_of(gateway->metadata)).second) continue;
      Diagnostic found = warning(
          gateway->metadata, {.code = DiagnosticCode::kCompressedSecrets,
                              .span = compression->span,
                              .field = "spec.compression.credentials",
                              .message = "responses to logged-in users are compressed, whichever site asks for them",
                              .fix = "set `credentials` to SameOrigin; to Always where no page has a secret in it"});
      found.severity = Severity::kNote;
      found.labels.push_back({policy.type.span, "browsers send this login by themselves"});
      found.notes.emplace_back(
          "a page that shows what another site put in beside a secret tells the secret by its compressed size "
          "(BREACH)");
      diagnostics_.add(std::move(found));
    }
  }

  static bool authenticates(model::PolicyType type) {
    using model::PolicyType;
    return type == PolicyType::kBasicAuth || type == PolicyType::kForwardAuth || type == PolicyType::kOidc ||
           type == PolicyType::kJwt || type == PolicyType::kApiKey || type == PolicyType::kClientCertificate;
  }

  /// By what limits count that an authentication policy finds out.
  enum class FoundOut : std::uint8_t { kClaim, kIdentity };

  /// Whether a policy on the target finds it out.
  bool is_found_out(FoundOut what, const std::string& target) {
    if (!found_out_) {
      found_out_.emplace();
      for (const ProxyPolicy& policy : resources_.policies) {
        if (!authenticates(policy.type.value)) continue;
        const std::string key = key_of_target(policy);
        (*found_out_)[FoundOut::kIdentity].insert(key);
        if (policy.type.value == model::PolicyType::kJwt) (*found_out_)[FoundOut::kClaim].insert(key);
      }
    }
    return (*found_out_)[what].contains(target);
  }

  /// A policy finds it out for the route's requests, on whatever way they come.
  bool is_found_out(FoundOut what, const ProxyRoute& route) {
    if (is_found_out(what, key_of(route.metadata))) return true;
    const auto by_filter = [](const model::Rule& rule) { return rule.external_auth.has_value(); };
    if (what == FoundOut::kIdentity && !route.rules.empty() && std::ranges::all_of(route.rules, by_filter)) return true;
    return std::ranges::all_of(route.parents, [&](const model::ParentRef& parent) {
      return is_found_out(what, key_of(parent.kind, parent.gateway, route.metadata));
    });
  }

  static bool is_key_of(FoundOut what, const Located<std::string>& key) {
    return what == FoundOut::kClaim ? key.value.starts_with("jwt:") : key.value == "identity";
  }

  /// The first of the keys of `limits` by that, with its field; null: there is none.
  template <typename Rule>
  static const Located<std::string>* key_by(FoundOut what, const std::vector<Rule>& limits, const std::string& of,
                                            std::string& field) {
    for (std::size_t i = 0; i < limits.size(); ++i) {
      const model::Strings& keys = limits[i].keys;
      const auto found = std::ranges::find_if(keys, [&](const auto& key) { return is_key_of(what, key); });
      if (found == keys.end()) continue;
      field = of + ".limits[" + std::to_string(i) + "].keys[" + std::to_string(found - keys.begin()) + "]";
      return &*found;
    }
    return nullptr;
  }

  static const Located<std::string>* key_by(FoundOut what, const ProxyPolicy& policy, std::string& field) {
    if (const auto* concurrency = std::get_if<model::ConcurrencyLimit>(&policy.settings)) {
      return key_by(what, concurrency->limits, "spec.concurrencyLimit", field);
    }
    const auto* limit = std::get_if<model::RateLimit>(&policy.settings);
    if (limit == nullptr) return nullptr;
    if (const auto* found = key_by(what, limit->limits, "spec.rateLimit", field)) return found;
    field = "spec.rateLimit.key";
    const bool inherited =
        limit->limits.empty() || std::ranges::any_of(limit->limits, [](const auto& one) { return one.keys.empty(); });
    return inherited && limit->key && is_key_of(what, *limit->key) ? &*limit->key : nullptr;
  }

  /// The oldest route that the policy applies to of which nobody finds it out; null: there is none.
  const ProxyRoute* open_route(FoundOut what, const ProxyPolicy& policy) {
    const std::string target = key_of_target(policy);
    if (policy.target_kind == PolicyTarget::kRoute) {
      const auto route = routes_.find(target);
      return route != routes_.end() && !is_found_out(what, *route->second) ? route->second : nullptr;
    }
    const auto served = routes_of_gateway_.find(target);
    if (served == routes_of_gateway_.end()) return nullptr;
    const ProxyRoute* oldest = nullptr;
    for (const ProxyRoute* const route : served->second) {
      if (oldest != nullptr && !is_before(route->metadata, oldest->metadata)) continue;
      if (!is_found_out(what, *route)) oldest = route;
    }
    return oldest;
  }

  /// A limit by `jwt:CLAIM` counts by what a JWT policy has verified, and one by `identity` by whom any policy has
  /// found; without one it has a single bucket.
  void found_out(FoundOut what, const ProxyPolicy& policy) {
    std::string field;
    const Located<std::string>* const key = key_by(what, policy, field);
    if (key == nullptr) return;
    const ProxyRoute* const open = open_route(what, policy);
    if (open == nullptr) return;
    const bool claim = what == FoundOut::kClaim;
    Diagnostic found = warning(
        policy.metadata,
        {.code = claim ? DiagnosticCode::kUnverifiedClaim : DiagnosticCode::kUnknownIdentity,
         .span = key->span,
         .field = policy.metadata.kind == "Ingress" ? "metadata.annotations" : field,
         .message = (claim ? "no JWT policy verifies the tokens of " : "no policy finds out who the clients are of ") +
                    open->metadata.text() + ": all of its requests count as one client",
         .fix = claim ? "add a policy of type JWT for the route, or count by something else"
                      : "add an authentication policy for the route, or count by something else"});
    if (claim) found.notes.emplace_back("a token that nobody has verified says what whoever sends it likes");
    diagnostics_.add(std::move(found));
  }

  static bool asks_for_certificates(const model::Listener& listener) {
    return listener.tls && (listener.tls->needs_client_certificate || !listener.tls->client_authorities.empty());
  }

  /// Whether the policy's route, or all of its gateway, is served on the listener.
  static bool serves(const model::Listener& listener, const ProxyPolicy& policy, const model::ParentRef* parent) {
    const auto is = [&](const model::Maybe<std::string>& name) { return !name || name->value == listener.name.value; };
    if (policy.target_kind == PolicyTarget::kGateway) return is(policy.section);
    return parent == nullptr ||
           (is(parent->section_name) && (!parent->port || parent->port->value == listener.port.value));
  }

  static bool share_a_host(const model::Listener& listener, const ProxyRoute* route) {
    if (route == nullptr || route->hostnames.empty() || listener.hostnames.empty()) return true;
    return std::ranges::any_of(route->hostnames, [&](const Located<HostPattern>& host) {
      return std::ranges::any_of(listener.hostnames, [&](const Located<HostPattern>& own) {
        return HostPattern::intersect(host.value, own.value).has_value();
      });
    });
  }

  /// Where clients are asked for no certificate a policy about certificates refuses all of them.
  void certificates(const ProxyPolicy& policy) {
    if (!std::holds_alternative<model::ClientCertificate>(policy.settings)) return;
    const std::string target = key_of_target(policy);
    const auto look_at = [&](const ProxyGateway& gateway, const ProxyRoute* route, const model::ParentRef* parent) {
      const auto found = std::ranges::find_if(gateway.listeners, [&](const model::Listener& listener) {
        const bool http = listener.protocol.value == "HTTP" || listener.protocol.value == "HTTPS";
        return http && serves(listener, policy, parent) && share_a_host(listener, route) && !redirects(listener) &&
               !asks_for_certificates(listener) && !(listener.protocol.value == "HTTP" && passed_by(gateway, route));
      });
      if (found == gateway.listeners.end()) return false;
      Diagnostic made = warning(
          policy.metadata,
          {.code = DiagnosticCode::kNoClientAsked,
           .span = policy.type.span,
           .field = "spec.type",
           .message = "clients of the listener " + in_quotes(found->name.value) + " of " + gateway.metadata.text() +
                      " are not asked for a certificate: their requests are answered 403",
           .fix = found->protocol.value == "HTTPS"
                      ? "set `tls.clientValidation` of the listener, or serve the route elsewhere"
                      : "serve the route on an HTTPS listener with `tls.clientValidation` alone"});
      made.labels.push_back({found->protocol.span, "nobody shows a certificate here"});
      diagnostics_.add(std::move(made));
      return true;
    };
    if (policy.target_kind == PolicyTarget::kGateway) {
      if (const auto found = gateways_.find(target); found != gateways_.end())
        look_at(*found->second, nullptr, nullptr);
      return;
    }
    const auto route = routes_.find(target);
    if (route == routes_.end()) return;
    for (const model::ParentRef& parent : route->second->parents) {
      const auto found = gateways_.find(key_of(parent.kind, parent.gateway, route->second->metadata));
      if (found != gateways_.end() && look_at(*found->second, route->second, &parent)) return;
    }
  }

  static bool redirects(const model::Listener& listener) {
    return (listener.ssl_redirect && listener.ssl_redirect->value) ||
           (listener.redirect_scheme &&
            (!listener.redirect_scheme->enabled || listener.redirect_scheme->enabled->value));
  }

  /// Each host of the route has a listener of its own that redirects: the wider ones never see its requests.
  static bool passed_by(const ProxyGateway& gateway, const ProxyRoute* route) {
    if (route == nullptr || route->hostnames.empty()) return false;
    return std::ranges::all_of(route->hostnames, [&](const Located<HostPattern>& host) {
      return std::ranges::any_of(gateway.listeners, [&](const model::Listener& listener) {
        return listener.protocol.value == "HTTP" && redirects(listener) &&
               std::ranges::any_of(listener.hostnames, [&](const auto& own) { return own.value == host.value; });
      });
    });
  }

  void unused() {
    if (!resources_.routes.empty() && !refused_routes()) {
      for (const ProxyBackend& backend : resources_.backends) {
        if (backend.metadata.kind == "ProxyBackend" && !used_.contains(key_of(backend.metadata))) {
          unused(backend.metadata, DiagnosticCode::kUnusedBackend, "no route sends requests to this backend");
        }
      }
    }
    if (resources_.gateways.empty() || refused("ProxyGateway") || refused("Gateway")) return;
    std::unordered_set<std::string> named;
    for (const ProxyGateway& gateway : resources_.gateways) {
      if (gateway.vip_ref) named.insert(gateway.vip_ref->value);
    }
    for (const model::ProxyVip& vip : resources_.vips) {
      if (!vip.pool.empty() || is_asked_for(vip)) continue;
      if (!named.contains(vip.metadata.name) && !named.contains(vip.metadata.name_space + "/" + vip.metadata.name)) {
        unused(vip.metadata, DiagnosticCode::kUnusedVip, "no gateway listens on this address");
      }
    }
  }

  /// By a gateway that names the address, not the ProxyVIP.
  bool is_asked_for(const model::ProxyVip& vip) const {
    return std::ranges::any_of(resources_.gateways, [&](const ProxyGateway& gateway) {
      return std::ranges::any_of(gateway.addresses, [&](const auto& own) { return own.value == vip.address.value; });
    });
  }

  /// A note: in files that are one part of a configuration it may be meant so.
  void unused(const Metadata& resource, DiagnosticCode code, std::string message) {
    Diagnostic found = warning(resource, {.code = code,
                                          .span = resource.span,
                                          .field = "metadata.name",
                                          .message = std::move(message),
                                          .fix = "delete it, or name it where it is meant to be used"});
    found.severity = Severity::kNote;
    diagnostics_.add(std::move(found));
  }

  /// A route that was left out may have been the one that uses it.
  bool refused(std::string_view kind) const {
    return std::ranges::any_of(resources_.refused, [&](const Metadata& metadata) { return metadata.kind == kind; });
  }
  bool refused_routes() const {
    return std::ranges::any_of(resources_.refused,
                               [](const Metadata& metadata) { return metadata.kind.ends_with("Route"); });
  }

  const model::ResourceSet& resources_;
  const ByName<ProxyGateway> gateways_;
  const ByName<ProxyRoute> routes_;
  const ByName<ProxyBackend> backends_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::string, std::vector<const ProxyRoute*>> routes_of_gateway_;
  std::unordered_set<std::string> used_;
  std::optional<std::unordered_map<FoundOut, std::unordered_set<std::string>>> found_out_;  ///< targets
  std::unordered_set<std::string> told_compressed_;                                         ///< gateways
  std::unordered_map<model::PolicyType, std::unordered_set<std::string>> overriding_;
};

}  // namespace

void lint_together(const model::ResourceSet& resources, Diagnostics& diagnostics) {
  TogetherLinter(resources, diagnostics).run();
}

}  // namespace edge::compiler::lint
