#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/link/link.h"
#include "compiler/model/decode.h"

namespace edge::compiler::link {
namespace {

struct LinkedClusters {
  explicit LinkedClusters(const std::string& text) {
    sources.add("t.yaml", text);
    model::ResourceSet resources = model::decode_all(sources, diagnostics);
    config = link(std::move(resources), diagnostics);
    diagnostics.finish(sources);
  }
  std::string faults() const {
    std::string all;
    for (const Diagnostic& d : diagnostics.all()) all += code_text(d.code) + " " + d.field + ": " + d.message + "\n";
    return all;
  }
  /// `Type Reason` of what is wrong with a cluster_resource.
  std::string wrong(std::string_view kind, std::string_view name) const {
    const ResourceStatus* status = find_status(config.statuses, kind, "default", name);
    std::string all;
    if (status == nullptr) return all;
    for (const Condition& c : status->conditions) all += c.type + " " + c.reason + "\n";
    return all;
  }
  SourceMap sources;
  Diagnostics diagnostics;
  LinkedConfig config;
};

std::string cluster_resource(std::string_view kind, std::string_view name, std::string_view spec,
                             std::string_view metadata = "") {
  return "---\napiVersion: edgeproxy.io/v1alpha1\nkind: " + std::string(kind) +
         "\nmetadata: {name: " + std::string(name) + std::string(metadata) + "}\nspec: " + std::string(spec) + "\n";
}
std::string secret(std::string_view name, std::string_view data, std::string_view type = "Opaque") {
  return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: " + std::string(name) + "}\ntype: " + std::string(type) +
         "\nstringData: {" + std::string(data) + "}\n";
}

TEST(Clusters, WhatIsThereIsFine) {
  const LinkedClusters l(
      cluster_resource("Site", "north", "{prefixes: [10.1.0.0/16], overlay: {keySecretRef: {name: key}}}") +
      cluster_resource("WANLink", "fibre", "{siteRef: north}") +
      cluster_resource("WANPolicy", "voice", "{siteRefs: [north], path: {linkRefs: [fibre]}}") +
      cluster_resource("EdgeRemoteCluster", "far",
                       "{controllerAddress: 'a:1', siteRef: north, tls: {clientSecretRef: {name: cert}}}") +
      cluster_resource("EdgeCluster", "here", "{version: 0.1.0}") +
      secret("cert", "tls.crt: a, tls.key: b", "kubernetes.io/tls") + secret("key", "private-key: a"));
  EXPECT_EQ(l.faults(), "");
  EXPECT_EQ(l.config.statuses.size(), 0U);
}

TEST(Clusters, AgentsBehindARelayHaveNoVirtualAddresses) {
  const std::string site = cluster_resource("EdgeRemoteCluster", "till",
                                            "{controllerAddress: 'a:1', agentGroups: [shops, kiosks], tls: "
                                            "{clientSecretRef: {name: cert}}}") +
                           secret("cert", "tls.crt: a, tls.key: b", "kubernetes.io/tls") +
                           cluster_resource("ProxyVIP", "public", "{address: 198.51.100.7/24}");
  const auto gateway = [](std::string_view spec) {
    return cluster_resource("ProxyGateway", "web",
                            "{" + std::string(spec) + "listeners: [{name: http, port: 80, protocol: HTTP}]}");
  };
  EXPECT_EQ(
      LinkedClusters(site + gateway("vipRef: public, agentGroups: [offices, shops], ")).faults(),
      "EDGE0801 spec.agentGroups: agents of the group `shops` behind the relay of the cluster `till` are given no "
      "virtual addresses\n");
  EXPECT_EQ(LinkedClusters(site + gateway("agentGroups: [shops], ")).faults(), "");
  EXPECT_EQ(LinkedClusters(site + gateway("vipRef: public, agentGroups: [offices], ")).faults(), "");
  EXPECT_EQ(LinkedClusters(site + gateway("vipRef: public, ")).faults(), "");
}

TEST(Clusters, WhatIsNotThereIsTold) {
  const LinkedClusters l(
      cluster_resource("Site", "north", "{remoteClusterRef: far}") +
      cluster_resource("WANLink", "fibre", "{siteRef: nort}") +
      cluster_resource("WANPolicy", "voice",
                       "{siteRefs: [south], path: {linkRefs: [fibr]}, matches: [{gatewayRefs: [gw]}]}") +
      cluster_resource("EdgeRemoteCluster", "near",
                       "{controllerAddress: 'a:1', tls: {clientSecretRef: {name: cert}}}") +
      secret("cert", "tls.crt: a, tls.key: b"));
  EXPECT_EQ(
      l.faults(),
      "EDGE0201 spec.remoteClusterRef: there is no EdgeRemoteCluster `far` in the namespace `default`\n"
      "EDGE0201 spec.siteRef: there is no Site `nort` in the namespace `default`\n"
      "EDGE0201 spec.siteRefs[0]: there is no Site `south` in the namespace `default`\n"
      "EDGE0201 spec.path.linkRefs[0]: there is no WANLink `fibr` in the namespace `default`\n"
      "EDGE0201 spec.matches[0].gatewayRefs[0]: there is no ProxyGateway `gw` in the namespace `default`\n"
      "EDGE0206 spec.tls.clientSecretRef.name: Secret default/cert is of type `Opaque`, not `kubernetes.io/tls`\n");
  EXPECT_EQ(l.wrong("WANLink", "fibre"), "ResolvedRefs TargetNotFound\n");
  EXPECT_EQ(l.wrong("EdgeRemoteCluster", "near"), "ResolvedRefs SecretNotUsable\n");
}

TEST(Clusters, OtherNamespacesNeedAGrant) {
  const std::string link = cluster_resource("WANLink", "fibre", "{siteRef: lab/north}");
  const std::string site = cluster_resource("Site", "north", "{}", ", namespace: lab");
  EXPECT_NE(LinkedClusters(link + site).faults().find("EDGE0202 spec.siteRef"), std::string::npos);
  const std::string grant =
      "---\napiVersion: gateway.networking.k8s.io/v1beta1\nkind: ReferenceGrant\nmetadata: {name: g, namespace: lab}\n"
      "spec: {from: [{group: edgeproxy.io, kind: WANLink, namespace: default}], to: [{group: edgeproxy.io, kind: "
      "Site}]}\n";
  EXPECT_EQ(LinkedClusters(link + site + grant).faults(), "");
}

TEST(Clusters, TheOlderHoldsWhatTwoClaim) {
  const LinkedClusters l(
      cluster_resource("Site", "a", "{prefixes: [10.1.0.0/16]}", ", creationTimestamp: '2026-02-01T00:00:00Z'") +
      cluster_resource("Site", "b", "{prefixes: [10.1.2.3/16]}", ", creationTimestamp: '2026-01-01T00:00:00Z'") +
      cluster_resource("EdgeCluster", "x", "{version: 0.1.0}") +
      cluster_resource("EdgeCluster", "y", "{version: 0.1.0}"));
  EXPECT_EQ(
      l.faults(),
      "EDGE0203 spec.prefixes[0]: the network 10.1.0.0/16 is held by Site default/b, which comes first\n"
      "EDGE0203 spec.controller.controllerClass: the controller class `edgeproxy.io/proxy` is held by EdgeCluster "
      "default/x, which comes first\n");
  EXPECT_EQ(l.wrong("Site", "a"), "Accepted Conflicted\n");
  EXPECT_EQ(l.wrong("Site", "b"), "");
}

TEST(Clusters, ALinkOfAnotherSiteIsNeverUsed) {
  const LinkedClusters l(cluster_resource("Site", "a", "{}") + cluster_resource("Site", "b", "{}") +
                         cluster_resource("WANLink", "l", "{siteRef: b}") +
                         cluster_resource("WANPolicy", "p", "{siteRefs: [a], path: {linkRefs: [l]}}"));
  EXPECT_EQ(
      l.faults(),
      "EDGE0104 spec.path.linkRefs[0]: the link `l` belongs to the Site `b`, at which the policy does not hold\n");
}

TEST(Clusters, ANameOfAClusterIsHeldByTheOlder) {
  const std::string spec = "{controllerAddress: 'a:1', tls: {clientSecretRef: {name: cert}}}";
  const LinkedClusters l(
      cluster_resource("EdgeRemoteCluster", "far", spec, ", creationTimestamp: '2026-01-02T00:00:00Z'") +
      cluster_resource("EdgeRemoteCluster", "far", spec,
                       ", namespace: other, creationTimestamp: '2026-01-01T00:00:00Z'") +
      secret("cert", "tls.crt: a, tls.key: b", "kubernetes.io/tls") +
      "---\napiVersion: v1\nkind: Secret\nmetadata: {name: cert, namespace: other}\ntype: kubernetes.io/tls\n"
      "stringData: {tls.crt: a, tls.key: b}\n");
  EXPECT_EQ(l.wrong("EdgeRemoteCluster", "far"), "Accepted Conflicted\n");
  EXPECT_THAT(l.faults(),
              testing::HasSubstr("metadata.name: the cluster `far` is held by EdgeRemoteCluster other/far"));
}

TEST(Clusters, ANameWithDotsIsNoClusters) {
  const LinkedClusters l(
      cluster_resource("EdgeRemoteCluster", "a.b", "{controllerAddress: 'a:1', tls: {clientSecretRef: {name: cert}}}") +
      secret("cert", "tls.crt: a, tls.key: b", "kubernetes.io/tls"));
  EXPECT_EQ(l.wrong("EdgeRemoteCluster", "a.b"), "Accepted Invalid\n");
}

}  // namespace
}  // namespace edge::compiler::link
