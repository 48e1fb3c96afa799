#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "compiler/link/defaults.h"
#include "compiler/link/field_values.h"
#include "compiler/link/gateways/gateway_addresses.h"
#include "compiler/link/gateways/link_acme.h"
#include "compiler/link/gateways/listener_claims.h"
#include "compiler/link/gateways/listener_sets.h"
#include "compiler/link/linked_config.h"
#include "compiler/link/stages.h"
#include "program/values/certificate_file.h"
#include "program/values/ordered_certificates.h"

namespace edge::compiler::link {
namespace {

void check_vip_ports(const model::ProxyGateway& gateway, const model::ProxyVip& vip, Diagnostics& diagnostics) {
  if (vip.ports.empty()) return;
  for (const model::Listener& listener : gateway.listeners) {
    const Located<std::int64_t>& port = listener.port;
    const bool listed = std::any_of(vip.ports.begin(), vip.ports.end(),
                                    [&](const Located<std::int64_t>& p) { return p.value == port.value; });
    if (listed) continue;
    diagnostics.add(
        {.code = DiagnosticCode::kConflict,
         .severity = Severity::kWarning,
         .resource = owner_of(gateway, listener).text(),
         .field = listener_field(listener, "port"),
         .span = port.span,
         .message = "port " + std::to_string(port.value) + " is not among the ports of " + vip.metadata.text(),
         .labels = {{vip.ports[0].span, "its ports begin here"}}});
  }
}

/// A reference that translating could not follow: without what it names the listener opens to nobody, and needs not be
/// left out.
bool leaves_listener(std::string_view refused) {
  return refused == reason::kInvalidCertificateRef || refused == reason::kInvalidCaKind;
}

ResourceStatus status_without_findings(const model::Metadata& metadata) {
  return {.kind = metadata.kind,
          .name_space = metadata.name_space,
          .name = metadata.name,
          .observed_generation = metadata.generation};
}

program::Protocol protocol_of(const std::string& text) {
  if (text == "HTTP") return program::Protocol::kHttp;
  if (text == "HTTPS") return program::Protocol::kHttps;
  if (text == "UDP") return program::Protocol::kUdp;
  return text == "TLS" ? program::Protocol::kTls : program::Protocol::kTcp;
}

class GatewayLinker {
 public:
  GatewayLinker(const std::vector<model::ProxyGateway>& gateways, const GatewayTargets& targets,
                Diagnostics& diagnostics, LinkedConfig& config)
      : gateways_(gateways),
        targets_(targets),
        diagnostics_(diagnostics),
        config_(config),
        addresses_(gateways, targets) {}

  ListenerStates run() {
    states_.resize(gateways_.size());
    choose_groups();
    for (std::uint32_t i = 0; i < gateways_.size(); ++i) {
      addresses_.find(i, findings_.emplace_back(Findings{diagnostics_}));
    }
    addresses_.give();
    for (std::uint32_t i = 0; i < gateways_.size(); ++i) gateway(i);
    Claims claims(gateways_, config_.gateways, Claims::Between::kGatewaysOfOneGroup, diagnostics_);
    for (std::uint32_t i = 0; i < gateways_.size(); ++i) refuse_indistinct(i, claims);
    const std::vector<Claim> order = claims_by_age();
    for (const Claim& claim : order) refuse(claim, claims.grant(claim));
    if (!groups_.empty()) find_overlaps(order);
    for (std::uint32_t i = 0; i < gateways_.size(); ++i) listeners(i);
    addresses_.add_statuses(config_.statuses);
    return std::move(states_);
  }

 private:
  /// Of the oldest gateways of this class.
  void choose_groups() {
    std::vector<const model::ProxyGateway*> order;
    for (const model::ProxyGateway& gateway : gateways_) {
      const auto& asked = gateway.load_balancer_class;
      if (!gateway.agent_groups.empty() && (!asked || asked->value == kDefaults.controller_class)) {
        order.push_back(&gateway);
      }
    }
    std::ranges::stable_sort(order, [](const model::ProxyGateway* a, const model::ProxyGateway* b) {
      return holds_before(a->metadata, b->metadata);
    });
    for (const model::ProxyGateway* gateway : order) {
      for (const Located<std::string>& group : gateway->agent_groups) {
        if (groups_.size() < kMostAgentGroups) groups_.insert(group.value);
      }
    }
  }

  void refuse(Claim claim, ClaimRefusal refusal) {
    ListenerState& state = states_[claim.gateway][claim.listener];
    state.reason = refusal.reason;
    state.message = std::move(refusal.message);
  }

  void gateway(std::uint32_t index) {
    const model::ProxyGateway& gateway = gateways_[index];
    Findings& findings = findings_[index];
    LinkedGateway linked{.identity = identity_of(gateway.metadata), .addresses = {}, .trusted_proxies = {}};
    trusted_proxies(gateway, linked);
    for (const Located<IpAddress>& address : gateway.addresses) {
      linked.addresses.push_back(address.value);
      if (gateway.refused.empty()) findings.status.addresses.push_back(to_string(address.value));
    }
    link_gateway_settings(gateway, linked);
    check_log_format(gateway, diagnostics_);
    std::string_view reason = gateway.refused;
    if (!reason.empty()) {
      const bool accepted = reason == reason::kAddressNotUsable;
      fail(findings.status.conditions, accepted ? condition::kProgrammed : condition::kAccepted, reason,
           gateway.refused_because.empty() ? "the gateway is not served" : gateway.refused_because);
    }
    const AddressState address = addresses_.of(index);
    if (address.address) {
      linked.addresses.push_back(*address.address);
      findings.status.addresses.push_back(to_string(*address.address));
      check_vip_ports(gateway, targets_.vips[address.vip], diagnostics_);
    }
    if (!address.reason.empty()) {
      // Without its address it must not bind every one instead.
      reason = address.reason;
      fail(findings.status.conditions, condition::kProgrammed, reason, address.message);
    }
    const auto& asked = gateway.load_balancer_class;
    if (is_of_other_class(gateway)) {
      // Rule D8: a gateway of another class is another controller's.
      reason = reason::kNotServed;
      fail(findings.status.conditions, condition::kAccepted, reason, "the gateway is of another class");
      not_served(gateway.metadata, asked->span, "spec.loadBalancerClass",
                 "the gateway is not of the class that is served here; it is left to its own class's controller",
                 diagnostics_);
    }
    reason = agent_groups(gateway, findings, reason, linked);
    if (gateway.client_certificate) client_certificate(gateway, findings, linked);
    refused_.push_back(reason);
    for (const model::Listener& listener : gateway.listeners) add_state(index, listener);
    config_.gateways.push_back(std::move(linked));
  }

  static void trusted_proxies(const model::ProxyGateway& gateway, LinkedGateway& linked) {
    for (const Located<Cidr>& block : gateway.trusted_proxies) linked.trusted_proxies.push_back(block.value);
    if (!gateway.clusters) return;
    // Whoever comes is another cluster, by its certificate; what it says of its client is believed.
    linked.for_clusters = true;
    linked.trusted_proxies = {*parse_cidr("0.0.0.0/0"), *parse_cidr("::/0")};
    for (const Located<std::string>& address : gateway.clusters->advertise) linked.advertised.push_back(address.value);
  }

  /// Ascending; none where the gateway is not served. \returns why it is not: `reason`, or a group too many.
  std::string_view agent_groups(const model::ProxyGateway& gateway, Findings& findings, std::string_view reason,
                                LinkedGateway& linked) {
    for (const Located<std::string>& group : gateway.agent_groups) {
      if (!groups_.contains(group.value) && reason.empty()) {
        reason = reason::kUnsupportedValue;
        const std::string most = std::to_string(kMostAgentGroups);
        fail(findings.status.conditions, condition::kAccepted, reason,
             "older gateways name " + most + " groups of agents, and programs are made for no more");
        not_served(gateway.metadata, group.span, "spec.agentGroups",
                   "older gateways name " + most + " other groups of agents, and programs are made for no more",
                   diagnostics_);
      }
      linked.agent_groups.push_back(group.value);
    }
    std::ranges::sort(linked.agent_groups);
    linked.agent_groups.erase(std::ranges::unique(linked.agent_groups).begin(), linked.agent_groups.end());
    if (!reason.empty()) linked.agent_groups.clear();
    return reason;
  }

  /// What backends are shown. What cannot be used is told, and they are not called without.
  void client_certificate(const model::ProxyGateway& gateway, Findings& findings, LinkedGateway& linked) const {
    const model::Reference& asked = *gateway.client_certificate;
    linked.client_certificate.emplace();
    const SecretFault fault = asked.name.value.empty()
                                  ? SecretFault::kUnfit
                                  : check_secret(gateway.metadata, asked, {kCertificateNeed, kPrivateKeyNeed},
                                                 "spec.tls.backend.clientCertificateRef", targets_.secrets, findings);
    if (fault != SecretFault::kNone) {
      return fail(findings.status.conditions, condition::kResolvedRefs,
                  fault == SecretFault::kNotPermitted ? reason::kRefNotPermitted : reason::kInvalidClientCertificateRef,
                  "the certificate for backends cannot be used");
    }
    SecretKey name = secret_key(gateway.metadata, asked, {});
    linked.client_certificate = CertificateName{std::move(name.name_space), std::move(name.name)};
    set_condition(findings.status.conditions,
                  {std::string(condition::kResolvedRefs), ConditionStatus::kTrue, std::string(reason::kResolvedRefs)});
  }

  /// Whether the gateway lets a ListenerSet add its listeners.
  bool takes_set(const model::ProxyGateway& gateway, const model::Metadata& set) const {
    const Admission admission{.allowed = gateway.allowed_listeners,
                              .gateway_space = gateway.metadata.name_space,
                              .labels = targets_.namespaces};
    return admission.takes_namespace(set.name_space);
  }

  void add_state(std::uint32_t index, const model::Listener& listener) {
    const model::ProxyGateway& gateway = gateways_[index];
    const model::Metadata& owner = owner_of(gateway, listener);
    const bool taken = !listener.set || takes_set(gateway, owner);
    const std::string_view refused = !refused_[index].empty()            ? refused_[index]
                                     : !taken                            ? reason::kNotAllowed
                                     : leaves_listener(listener.refused) ? std::string_view()
                                                                         : std::string_view(listener.refused);
    states_[index].push_back({.linked = {},
                              .reason = refused,
                              .admission = {.allowed = listener.allowed_routes,
                                            .gateway_space = owner.name_space,
                                            .protocol = listener.protocol.value,
                                            .terminates = terminates_tls(listener),
                                            .labels = targets_.namespaces},
                              .set = listener.set ? resource_path(owner.name_space, owner.name) : std::string(),
                              .name = listener.name.value});
  }

  /// Gateway API's rule for the listeners of one Gateway; a ProxyGateway's first holds, and so do those of
  /// ListenerSets.
  void refuse_indistinct(std::uint32_t index, Claims& claims) {
    if (gateways_[index].metadata.kind != "Gateway") return;
    for (std::uint32_t l = 0; l < states_[index].size(); ++l) {
      if (gateways_[index].listeners[l].set) break;  // behind the gateway's own
      if (states_[index][l].reason.empty()) refuse({index, l}, claims.indistinct({index, l}));
    }
  }

  std::vector<Claim> claims_by_age() const {
    std::vector<Claim> order;
    for (std::uint32_t i = 0; i < gateways_.size(); ++i) {
      for (std::uint32_t l = 0; l < gateways_[i].listeners.size(); ++l) {
        if (states_[i][l].reason.empty()) order.push_back({i, l});
      }
    }
    std::stable_sort(order.begin(), order.end(), [&](const Claim& a, const Claim& b) {
      if (a.gateway == b.gateway) return a.listener < b.listener;
      return holds_before(gateways_[a.gateway].metadata, gateways_[b.gateway].metadata);
    });
    return order;
  }

  /// Of what was granted, what could not be were all gateways in one program.
  void find_overlaps(const std::vector<Claim>& order) {
    Diagnostics unheard(0);
    Claims all(gateways_, config_.gateways, Claims::Between::kAllGateways, unheard);
    for (const Claim& claim : order) {
      if (!states_[claim.gateway][claim.listener].reason.empty()) continue;
      if (!all.grant(claim).reason.empty()) overlaps_.insert({claim.gateway, claim.listener});
    }
  }

  void listeners(std::uint32_t index) {
    const model::ProxyGateway& gateway = gateways_[index];
    Findings& findings = findings_[index];
    bool any = false;
    std::string why;
    std::vector<ListenerSetState> sets;
    for (const model::Metadata& set : gateway.listener_sets) sets.push_back({.allowed = takes_set(gateway, set)});
    for (std::uint32_t i = 0; i < gateway.listeners.size(); ++i) {
      bool invalid_kinds = false;
      ListenerStatus status{.name = gateway.listeners[i].name.value,
                            .supported_kinds = supported_kinds(gateway.listeners[i], invalid_kinds)};
      if (invalid_kinds) {
        fail(status.conditions, condition::kResolvedRefs, reason::kInvalidRouteKinds,
             "a kind of `allowedRoutes.kinds` is none that the listener can carry");
      }
      listener(index, i, findings, status);
      if (const auto set = gateway.listeners[i].set) {
        sets[*set].listeners.push_back(std::move(status));
        continue;
      }
      any |= states_[index][i].linked.has_value();
      if (why.empty() && !states_[index][i].message.empty()) {
        why = "; listener `" + status.name + "`: " + states_[index][i].message;
      }
      findings.status.listeners.push_back(std::move(status));
    }
    if (!any && !gateway.listeners.empty()) {
      fail(findings.status.conditions, condition::kProgrammed, reason::kListenersNotValid,
           "no listener of the gateway is served" + why);
    }
    const bool addressed =
        refused_[index] == reason::kAddressNotUsable || refused_[index] == reason::kAddressNotAssigned;
    findings.status.attached_listener_sets =
        add_set_statuses(gateway, addressed ? std::string_view() : refused_[index], std::move(sets), config_.statuses);
    // Of a gateway of another class that class's controller writes the status.
    const Condition* const accepted = find_condition(findings.status.conditions, condition::kAccepted);
    if (accepted != nullptr && accepted->reason == reason::kNotServed) return;
    // One without a listener that is well has nothing to say, and is there all the same.
    config_.statuses.push_back(
        status_of(gateway.metadata, findings).value_or(status_without_findings(gateway.metadata)));
  }

  void listener(std::uint32_t gateway_index, std::uint32_t index, Findings& findings, ListenerStatus& status) {
    const model::ProxyGateway& gateway = gateways_[gateway_index];
    const model::Listener& listener = gateway.listeners[index];
    ListenerState& state = states_[gateway_index][index];
    const program::Protocol protocol = protocol_of(listener.protocol.value);
    const bool encrypted = protocol == program::Protocol::kHttps || protocol == program::Protocol::kTls;
    // What is wrong with its certificates is worth knowing whether it is served or not.
    std::optional<ListenerTls> tls_settings;
    if (encrypted && state.reason != reason::kNotAllowed) tls_settings = tls(gateway, index, findings, status);
    check_proxy_protocol(gateway, index);
    if (leaves_listener(listener.refused)) {
      fail(status.conditions, condition::kResolvedRefs, listener.refused, "a reference is to a kind that is not read");
    }
    if (!state.reason.empty()) return tell_refusal(listener, state, status);
    state.linked = static_cast<std::uint32_t>(config_.listeners.size());
    LinkedListener linked{.gateway = gateway_index,
                          .name = listener_name(gateway, listener),
                          .set_space = listener.set ? owner_of(gateway, listener).name_space : std::string(),
                          .set_name = listener.set ? owner_of(gateway, listener).name : std::string(),
                          .port = static_cast<std::uint16_t>(listener.port.value),
                          .protocol = protocol,
                          .hostnames = listener.hostnames,
                          .max_request_body = is_raw(protocol) ? 0
                                              : listener.max_request_body
                                                  ? static_cast<std::uint64_t>(listener.max_request_body->value)
                                                  : kDefaults.gateway_body_limit,
                          .proxy_protocol = value_or(listener.proxy_protocol, false),
                          .redirect_scheme = scheme_redirect_of(gateway, listener),
                          .tls = std::move(tls_settings),
                          .span = listener.span,
                          .overlaps = overlaps_.contains({gateway_index, index})};
    config_.listeners.push_back(std::move(linked));
  }

  void check_proxy_protocol(const model::ProxyGateway& gateway, std::uint32_t index) const {
    const auto& asked = gateway.listeners[index].proxy_protocol;
    if (!value_or(asked, false) || !gateway.trusted_proxies.empty()) return;
    diagnostics_.add({.code = DiagnosticCode::kNoTrustedProxy,
                      .severity = Severity::kWarning,
                      .resource = gateway.metadata.text(),
                      .field = listener_field(gateway.listeners[index], "proxyProtocol"),
                      .span = asked->span,
                      .message =
                          "only trusted proxies may send a PROXY header, and there are none: every connection to "
                          "the listener is closed",
                      .fix = "name the load balancers before this proxy in `trustedProxies`"});
  }

  static void tell_refusal(const model::Listener& listener, const ListenerState& state, ListenerStatus& status) {
    const std::string_view reason = state.reason;
    if (reason == reason::kProtocolConflict || reason == reason::kHostnameConflict) {
      set_condition(status.conditions,
                    {std::string(condition::kConflicted), ConditionStatus::kTrue, std::string(reason), state.message});
      // Gateway API words it so for ListenerSets alone.
      if (listener.set) fail(status.conditions, condition::kProgrammed, reason, "the listener is not served");
    }
    // What is wrong with the whole gateway its own conditions tell.
    const bool of_gateway = reason == reason::kAddressNotUsable || reason == reason::kAddressNotAssigned ||
                            reason == reason::kUnsupportedAddress || reason == reason::kInvalidParameters;
    fail(status.conditions, of_gateway ? condition::kProgrammed : condition::kAccepted,
         of_gateway ? reason::kInvalid : reason, "the listener is not served");
  }

  ListenerTls tls(const model::ProxyGateway& gateway, std::uint32_t index, Findings& findings,
                  ListenerStatus& status) const {
    ListenerTls linked;
    const model::Listener& listener = gateway.listeners[index];
    if (!terminates_tls(listener)) linked.mode = TlsMode::kPassthrough;
    if (gateway.clusters) {
      const std::string space(program::kClusterSecretSpace);
      const std::string name(program::kClusterSecretName);
      return {.min_version = TlsVersion::k13,
              .certificates = {{space, name}},
              .needs_client_certificate = true,
              .client_authorities = {{space, name, std::string(program::kClusterAuthorityKey)}}};
    }
    const auto& written = listener.tls;
    if (!written) return linked;
    linked.min_version =
        written->min_version && written->min_version->value == "TLS1.3" ? TlsVersion::k13 : kDefaults.tls_min_version;
    for (std::size_t i = 0; i < written->certificates.size(); ++i) {
      const model::Reference& reference = written->certificates[i];
      const std::string field =
          written->short_form ? "tls.secretRef" : "tls.certificateRefs[" + std::to_string(i) + "]";
      const model::Metadata& owner = owner_of(gateway, listener);
      if (!usable_secret(owner, reference, {kCertificateNeed, kPrivateKeyNeed}, listener_field(listener, field),
                         findings, status))
        continue;
      SecretKey name = secret_key(owner, reference, {});
      linked.certificates.push_back({std::move(name.name_space), std::move(name.name)});
    }
    if (written->certificate_file && written->key_file) {
      if (files_allowed(gateway, index, findings, status)) {
        linked.certificates.push_back(
            {gateway.metadata.name_space,
             program::file_secret_name(written->certificate_file->value, written->key_file->value)});
      }
    }
    if (written->acme && linked.mode == TlsMode::kTerminate) order(gateway, listener, findings, status, linked);
    client_validation(gateway, listener, findings, status, linked);
    return linked;
  }

  bool usable_secret(const model::Metadata& from, const model::Reference& reference,
                     const std::vector<SecretNeed>& needs, const std::string& field, Findings& findings,
                     ListenerStatus& status) const {
    const SecretFault fault = check_secret(from, reference, needs, field, targets_.secrets, findings);
    if (fault == SecretFault::kNone) return true;
    fail(status.conditions, condition::kResolvedRefs,
         fault == SecretFault::kNotPermitted ? reason::kRefNotPermitted : reason::kInvalidCertificateRef,
         "the Secret `" + reference.name.value + "` cannot be used");
    return false;
  }

  /// What is asked of clients' certificates.
  void client_validation(const model::ProxyGateway& gateway, const model::Listener& listener, Findings& findings,
                         ListenerStatus& status, ListenerTls& linked) const {
    const auto& written = *listener.tls;
    linked.needs_client_certificate = written.needs_client_certificate || !written.client_authorities.empty();
    linked.client_certificate_optional = linked.needs_client_certificate && written.client_certificate_optional;
    linked.client_certificate_unverified = linked.needs_client_certificate && written.client_certificate_unverified;
    linked.requires_crl = linked.needs_client_certificate && written.requires_crl;
    for (std::size_t i = 0; i < written.client_authorities.size(); ++i) {
      const model::Reference& reference = written.client_authorities[i];
      const std::string field = "tls.clientValidation.caCertificateRefs[" + std::to_string(i) + "]";
      if (reference.name.value.starts_with(model::kConfigMapPrefix)) {
        if (!check_config_map(gateway, reference, findings, status)) continue;
      } else if (!usable_secret(gateway.metadata, reference, {kAuthorityNeed}, listener_field(listener, field),
                                findings, status)) {
        continue;
      }
      linked.client_authorities.push_back(secret_key(gateway.metadata, reference, kAuthorityKey));
    }
    if (written.needs_client_certificate && linked.client_authorities.empty()) {
      fail(status.conditions, condition::kAccepted, reason::kNoValidAuthority, "no authority of clients can be used");
      // The listener is not accepted: nobody has the certificate that it then requires.
      linked.client_certificate_optional = linked.client_certificate_unverified = false;
    }
    if (linked.client_certificate_unverified) {
      set_condition(findings.status.conditions, {std::string(condition::kInsecureValidation), ConditionStatus::kTrue,
                                                 std::string(reason::kConfigurationChanged),
                                                 "clients are served whether or not their certificate verifies "
                                                 "(AllowInsecureFallback)"});
    }
  }

  /// Agents get whatever certificates there are under one name, which no resource has.
  void order(const model::ProxyGateway& gateway, const model::Listener& listener, Findings& findings,
             ListenerStatus& status, ListenerTls& linked) const {
    const model::Metadata& owner = owner_of(gateway, listener);
    linked.acme = link_acme(owner, *listener.tls->acme, listener_field(listener, "tls.acme"), targets_, findings);
    if (!linked.acme) {
      return fail(status.conditions, condition::kResolvedRefs, reason::kInvalidCertificateRef,
                  "the CertificateIssuer `" + listener.tls->acme->issuer->value + "` is not there");
    }
    if (listener.tls->acme->on_demand) linked.on_demand = on_demand_settings(*listener.tls->acme->on_demand);
    check_challenges(owner, listener, *linked.acme, gateways_, diagnostics_);
    linked.certificates.push_back(
        {owner.name_space, program::ordered_secret_name(gateway.metadata.name, listener_name(gateway, listener))});
  }

  /// By their names alone: whoever reads the files follows links, and looks again.
  bool files_allowed(const model::ProxyGateway& gateway, std::uint32_t index, Findings& findings,
                     ListenerStatus& status) const {
    if (!targets_.certificate_directories) return true;
    const model::Tls& tls = *gateway.listeners[index].tls;
    std::string outside;
    for (const auto* const file : {&tls.certificate_file, &tls.key_file}) {
      const std::string& path = (*file)->value;
      if (program::is_below_any(path, *targets_.certificate_directories)) continue;
      outside += (outside.empty() ? "`" : ", `") + path + "`";
      const bool none = targets_.certificate_directories->empty();
      findings.diagnostics.add({.code = DiagnosticCode::kInvalidValue,
                                .resource = gateway.metadata.text(),
                                .field = listener_field(gateway.listeners[index],
                                                        file == &tls.certificate_file ? "tls.certFile" : "tls.keyFile"),
                                .span = (*file)->span,
                                .message = none ? "no files of certificates are read: `--tls-files` names no directory"
                                                : "`" + path + "` is below no directory that `--tls-files` names",
                                .fix = "start the process with `--tls-files " +
                                       path.substr(0, std::max<std::size_t>(path.rfind('/'), 1)) + "`"});
    }
    if (!outside.empty()) {
      fail(status.conditions, condition::kResolvedRefs, reason::kInvalidCertificateRef,
           outside + ": below no directory that `--tls-files` names");
    }
    return outside.empty();
  }

  /// Authorities of a translated gateway.
  bool check_config_map(const model::ProxyGateway& gateway, const model::Reference& reference, Findings& findings,
                        ListenerStatus& status) const {
    const std::string field = "spec.tls.frontend";
    const SecretFault fault =
        check_config_map_authority(gateway.metadata, reference, field, targets_.secrets, findings);
    if (fault == SecretFault::kNone) return true;
    fail(status.conditions, condition::kResolvedRefs,
         fault == SecretFault::kNotPermitted ? reason::kRefNotPermitted : reason::kInvalidCaRef,
         "the ConfigMap `" + reference.name.value.substr(model::kConfigMapPrefix.size()) + "` cannot be used");
    return false;
  }

  const std::vector<model::ProxyGateway>& gateways_;
  const GatewayTargets& targets_;
  Diagnostics& diagnostics_;
  std::set<std::string> groups_;                                ///< of agents that programs are made for
  std::set<std::pair<std::uint32_t, std::uint32_t>> overlaps_;  ///< gateway and listener
  LinkedConfig& config_;
  ListenerStates states_;
  GatewayAddresses addresses_;
  // By position of the gateway:
  std::vector<Findings> findings_;
  std::vector<std::string_view> refused_;  ///< why nothing of it is served; empty: something may be
};

}  // namespace

ListenerStates link_gateways(const std::vector<model::ProxyGateway>& gateways, const GatewayTargets& targets,
                             Diagnostics& diagnostics, LinkedConfig& config) {
  return GatewayLinker(gateways, targets, diagnostics, config).run();
}

}  // namespace edge::compiler::link
