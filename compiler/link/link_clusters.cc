#include "compiler/link/link_clusters.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/resource_id.h"
#include "compiler/link/defaults.h"
#include "compiler/link/stages.h"
#include "compiler/link/wan/link_wan.h"
#include "compiler/link/wan/lint_probe.h"
#include "compiler/link/wan/prove_wan.h"

namespace edge::compiler::link {
namespace {

constexpr std::string_view kPrivateKey = "private-key";
constexpr std::string_view kClientSecret = "client-secret";

std::string at(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

/// Who came first to claim a thing, by the thing's name.
using Claimers = std::map<std::string, const model::Metadata*>;

class ClusterChecker {
 public:
  ClusterChecker(const model::ResourceSet& resources, const ClusterTargets& targets, Diagnostics& diagnostics,
                 LinkedConfig& config)
      : resources_(resources),
        targets_(targets),
        diagnostics_(diagnostics),
        config_(config),
        site_names_(index_of(resources.sites)),
        link_names_(index_of(resources.wan_links)),
        remote_names_(index_of(resources.remote_clusters)),
        sites_(site_names_, targets.scope),
        links_(link_names_, targets.scope),
        remotes_(remote_names_, targets.scope),
        wan_(resources) {}

  void run() {
    each(resources_.edge_clusters, [&](const auto& cluster, Findings& findings) { check(cluster, findings); });
    each(resources_.remote_clusters, [&](const auto& cluster, Findings& findings) { check(cluster, findings); });
    addresses_behind_relays();
    each(resources_.sites, [&](const auto& site, Findings& findings) { check(site, findings); });
    each(resources_.wan_links, [&](const auto& link, Findings& findings) { check(link, findings); });
    each(resources_.wan_policies, [&](const auto& policy, Findings& findings) { check(policy, findings); });
    config_.wan = wan_.take();
    prove_wan(config_.wan, diagnostics_);
    lint_policy_probes(config_.wan, diagnostics_);
  }

 private:
  /// Older ones first, so that claims are granted in that order.
  template <typename Resource, typename Check>
  void each(const std::vector<Resource>& resources, Check check_one) {
    std::vector<const Resource*> order;
    for (const Resource& resource : resources) order.push_back(&resource);
    std::ranges::stable_sort(
        order, [](const Resource* a, const Resource* b) { return holds_before(a->metadata, b->metadata); });
    for (const Resource* resource : order) {
      Findings findings{diagnostics_};
      check_one(*resource, findings);
      if (auto status = status_of(resource->metadata, findings)) config_.statuses.push_back(*std::move(status));
    }
  }

  Resolved follow(const Resolver& resolver, const model::Metadata& from, std::string_view kind,
                  const model::Reference& reference, const std::string& field, Findings& findings) const {
    const Resolved found = resolver.resolve(from, kind, reference, [&] { return field; }, findings);
    if (found) return found;
    const bool hidden = found.fault == ReferenceFault::kNotPermitted;
    fail(
        findings.status.conditions, condition::kResolvedRefs,
        hidden ? reason::kRefNotPermitted : reason::kTargetNotFound,
        field + ": " + std::string(kind) + " " + reference.name.value + (hidden ? " is not granted" : " is not there"));
    return found;
  }

  void secret(const model::Metadata& from, const model::Reference& reference, const std::vector<SecretNeed>& needs,
              const std::string& field, Findings& findings) const {
    const SecretFault fault = check_secret(from, reference, needs, field, targets_.secrets, findings);
    if (fault == SecretFault::kNone) return;
    fail(findings.status.conditions, condition::kResolvedRefs,
         fault == SecretFault::kNotPermitted ? reason::kRefNotPermitted
         : fault == SecretFault::kNotFound   ? reason::kSecretNotFound
                                             : reason::kSecretNotUsable,
         field + ": the secret " + reference.name.value + " cannot be used");
  }

  void certificate(const model::Metadata& from, const model::Reference& reference, const std::string& field,
                   Findings& findings) const {
    secret(from, reference,
           {{.key = "tls.crt", .type = kCertificateType}, {.key = "tls.key", .type = kCertificateType}}, field,
           findings);
  }

  /// False: another holds it; that is reported.
  bool claim(Claimers& claims, const std::string& thing, const model::Metadata& claimer, Span span, std::string field,
             const std::string& what, Findings& findings) const {
    const auto [held, first] = claims.emplace(thing, &claimer);
    if (first || held->second == &claimer) return true;
    const std::string message = what + " is held by " + held->second->text() + ", which comes first";
    fail(findings.status.conditions, condition::kAccepted, reason::kConflicted, message);
    findings.diagnostics.add({.code = DiagnosticCode::kConflict,
                              .resource = claimer.text(),
                              .field = std::move(field),
                              .span = span,
                              .message = message,
                              .labels = {{held->second->span, "the first"}}});
    return false;
  }

  void check(const model::EdgeCluster& cluster, Findings& findings) {
    const auto& own = cluster.controller.controller_class;
    const std::string name = own ? own->value : std::string(kDefaults.controller_class);
    claim(classes_, name, cluster.metadata, own ? own->span : cluster.metadata.span, "spec.controller.controllerClass",
          "the controller class `" + name + "`", findings);
    if (cluster.web.tls_secret) {
      certificate(cluster.metadata, *cluster.web.tls_secret, "spec.web.tlsSecretRef", findings);
    }
    if (cluster.web.oidc) check(cluster.metadata, *cluster.web.oidc, findings);
    check(cluster.metadata, cluster.controller.placement.variables, "spec.controller.env", findings);
    check(cluster.metadata, cluster.agents.placement.variables, "spec.agents.env", findings);
    for (std::size_t i = 0; i < cluster.image.pull_secrets.size(); ++i) {
      const model::Reference reference{.name = cluster.image.pull_secrets[i]};
      secret(cluster.metadata, reference, {{.key = ".dockerconfigjson"}}, at("spec.image.pullSecrets", i), findings);
    }
    node_network(cluster, findings);
  }

  void check(const model::Metadata& from, const model::EdgeWebOidc& oidc, Findings& findings) const {
    secret(from, oidc.client_secret, {{.key = kClientSecret}}, "spec.web.oidc.clientSecretRef", findings);
    if (oidc.session_secret) {
      secret(from, *oidc.session_secret, {kSessionSecretNeed}, "spec.web.oidc.sessionSecretRef", findings);
    }
  }

  void check(const model::Metadata& from, const std::vector<model::Variable>& variables, std::string_view list,
             Findings& findings) const {
    for (std::size_t i = 0; i < variables.size(); ++i) {
      if (!variables[i].secret) continue;
      secret(from, *variables[i].secret, {{.key = variables[i].secret_key.value}}, at(list, i) + ".secretKeyRef",
             findings);
    }
  }

  /// An address that is held in a pod's own network answers for nobody outside of it.
  void node_network(const model::EdgeCluster& cluster, Findings& findings) const {
    const auto& own = cluster.agents.host_network;
    if (!own || own->value || resources_.vips.empty()) return;
    const auto first = std::ranges::min_element(
        resources_.vips, [](const auto& a, const auto& b) { return holds_before(a.metadata, b.metadata); });
    const std::string message =
        "agents without the node's network cannot hold the address of " + first->metadata.text();
    fail(findings.status.conditions, condition::kAccepted, reason::kInvalidParameters, message);
    findings.diagnostics.add({.code = DiagnosticCode::kExclusiveFields,
                              .resource = cluster.metadata.text(),
                              .field = "spec.agents.hostNetwork",
                              .span = own->span,
                              .message = message,
                              .labels = {{first->metadata.span, "the address"}},
                              .fix = "leave `hostNetwork` out, or remove the ProxyVIP"});
  }

  void check(const model::EdgeRemoteCluster& cluster, Findings& findings) {
    const std::string& name = cluster.metadata.name;
    // Certificates and what is shared go by the name alone.
    claim(clusters_, name, cluster.metadata, cluster.metadata.span, "metadata.name", "the cluster `" + name + "`",
          findings);
    if (!is_cluster_name(name)) unusable_name(cluster.metadata, findings);
    certificate(cluster.metadata, cluster.client_secret, "spec.tls.clientSecretRef", findings);
    if (cluster.ca_secret) {
      secret(cluster.metadata, *cluster.ca_secret, {{.key = kAuthorityKey}}, "spec.tls.caSecretRef", findings);
    }
    if (cluster.site) follow(sites_, cluster.metadata, "Site", *cluster.site, "spec.siteRef", findings);
    for (const Located<std::string>& group : cluster.agent_groups)
      relayed_.try_emplace(group.value, std::pair(&cluster, &group));
  }

  /// Agents of a site without a controller are in these groups, and are given no virtual addresses (decision 412): what
  /// has none but that of a ProxyVIP is reached at none of them.
  void addresses_behind_relays() const {
    if (relayed_.empty()) return;
    for (const model::ProxyGateway& gateway : resources_.gateways) {
      if (!gateway.vip_ref) continue;
      for (const Located<std::string>& group : gateway.agent_groups) {
        const auto found = relayed_.find(group.value);
        if (found == relayed_.end()) continue;
        const auto& [cluster, granted] = found->second;
        diagnostics_.add({.code = DiagnosticCode::kNotServed,
                          .severity = Severity::kWarning,
                          .resource = gateway.metadata.text(),
                          .field = "spec.agentGroups",
                          .span = group.span,
                          .message = "agents of the group `" + group.value + "` behind the relay of the cluster `" +
                                     cluster->metadata.name + "` are given no virtual addresses",
                          .labels = {{gateway.vip_ref->span, "none of them holds this address"},
                                     {granted->span, "the cluster's agents are in the group"}},
                          .fix = "leave `vipRef` out for them, or give the cluster a controller of its own"});
      }
    }
  }

  static void unusable_name(const model::Metadata& metadata, Findings& findings) {
    const std::string message = "the name of a cluster is of letters, digits and `-`, at most 63";
    fail(findings.status.conditions, condition::kAccepted, reason::kInvalid, message);
    findings.diagnostics.add({.code = DiagnosticCode::kInvalidValue,
                              .resource = metadata.text(),
                              .field = "metadata.name",
                              .span = metadata.span,
                              .message = message,
                              .fix = "choose a name without dots"});
  }

  void check(const model::Site& site, Findings& findings) {
    if (site.remote_cluster) {
      follow(remotes_, site.metadata, "EdgeRemoteCluster", *site.remote_cluster, "spec.remoteClusterRef", findings);
    }
    if (site.overlay && site.overlay->key_secret) {
      secret(site.metadata, *site.overlay->key_secret, {{.key = kPrivateKey}}, "spec.overlay.keySecretRef", findings);
    }
    for (std::size_t i = 0; i < site.prefixes.size(); ++i) {
      const std::string network = to_string(site.prefixes[i].value);
      claim(networks_, network, site.metadata, site.prefixes[i].span, at("spec.prefixes", i), "the network " + network,
            findings);
    }
  }

  void check(const model::WanLink& link, Findings& findings) {
    const Resolved site = follow(sites_, link.metadata, "Site", link.site, "spec.siteRef", findings);
    if (site) wan_.add(link, site.position);
    lint_probe(link, diagnostics_);
  }

  void check(const model::WanPolicy& policy, Findings& findings) {
    std::vector<std::uint32_t> sites;
    std::vector<std::uint32_t> links;
    bool whole = true;
    for (std::size_t i = 0; i < policy.sites.size(); ++i) {
      const Resolved site = follow(sites_, policy.metadata, "Site", policy.sites[i], at("spec.siteRefs", i), findings);
      if (!site) whole = false;
      if (site) sites.push_back(site.position);
    }
    for (std::size_t i = 0; i < policy.links.size(); ++i) {
      const std::string field = at("spec.path.linkRefs", i);
      const Resolved link = follow(links_, policy.metadata, "WANLink", policy.links[i], field, findings);
      if (link) links.push_back(link.position);
      if (!link) whole = false;
      if (link && !policy.sites.empty())
        check_link_site(policy, policy.links[i], link.position, sites, field, findings);
    }
    for (std::size_t m = 0; m < policy.matches.size(); ++m) {
      const auto& gateways = policy.matches[m].gateways;
      for (std::size_t i = 0; i < gateways.size(); ++i) {
        const std::string field = at(at("spec.matches", m) + ".gatewayRefs", i);
        if (!follow(targets_.gateways, policy.metadata, "ProxyGateway", gateways[i], field, findings)) whole = false;
      }
    }
    // A part of a policy could hold for more traffic, or drop less, than the whole.
    if (whole) wan_.add(policy, std::move(sites), links);
  }

  /// A link of a site at which the policy does not hold would never be used.
  void check_link_site(const model::WanPolicy& policy, const model::Reference& reference, std::uint32_t position,
                       const std::vector<std::uint32_t>& sites, const std::string& field, Findings& findings) const {
    const model::WanLink& link = resources_.wan_links[position];
    const std::string& space = link.site.name_space.empty() ? link.metadata.name_space : link.site.name_space;
    const auto site = site_names_.find("Site", space, link.site.name.value);
    if (!site || std::ranges::find(sites, *site) != sites.end()) return;
    findings.diagnostics.add({.code = DiagnosticCode::kInvalidValue,
                              .severity = Severity::kWarning,
                              .resource = policy.metadata.text(),
                              .field = field,
                              .span = reference.name.span,
                              .message = "the link `" + reference.name.value + "` belongs to the Site `" +
                                         link.site.name.value + "`, at which the policy does not hold",
                              .labels = {{link.site.name.span, "the link's site"}},
                              .fix = "add the site to `siteRefs`, or leave the link out"});
  }

  const model::ResourceSet& resources_;
  const ClusterTargets& targets_;
  Diagnostics& diagnostics_;
  LinkedConfig& config_;
  NameIndex site_names_;
  NameIndex link_names_;
  NameIndex remote_names_;
  Resolver sites_;
  Resolver links_;
  Resolver remotes_;
  WanLinker wan_;
  Claimers classes_;
  Claimers clusters_;
  Claimers networks_;
  /// By group: the oldest cluster whose agents are in it, behind a relay.
  std::map<std::string, std::pair<const model::EdgeRemoteCluster*, const Located<std::string>*>> relayed_;
};

}  // namespace

void check_clusters(const model::ResourceSet& resources, const ClusterTargets& targets, Diagnostics& diagnostics,
                    LinkedConfig& config) {
  ClusterChecker(resources, targets, diagnostics, config).run();
}

}  // namespace edge::compiler::link
