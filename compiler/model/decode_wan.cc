#include <algorithm>
#include <utility>

#include "compiler/model/decode_kinds.h"

namespace edge::compiler::model {
namespace {

QualityBounds decode_bounds(const Fields& fields) {
  return {.max_latency = fields.duration("maxLatency"),
          .max_jitter = fields.duration("maxJitter"),
          .max_loss = fields.percent("maxLoss")};
}

TrafficMatch decode_match(const Fields& entry) {
  return {.sources = entry.cidrs("sources"),
          .destinations = entry.cidrs("destinations"),
          .protocols = entry.strings("protocols"),
          .ports = entry.integers("ports"),
          .dscp = entry.integers("dscp"),
          .gateways = entry.named_references("gatewayRefs")};
}

/// ICMP has no ports, so such a match selects nothing.
void check_ports(const TrafficMatch& match, std::size_t index, Report& report) {
  if (match.ports.empty() || match.protocols.empty()) return;
  const bool only_icmp =
      std::ranges::all_of(match.protocols, [](const auto& protocol) { return protocol.value == "ICMP"; });
  if (!only_icmp) return;
  report.add({.code = DiagnosticCode::kExclusiveFields,
              .field = "spec.matches[" + std::to_string(index) + "].ports",
              .span = match.ports.front().span,
              .message = "ICMP has no ports",
              .labels = {{match.protocols.front().span, "the only protocol"}},
              .fix = "leave `ports` out, or add TCP or UDP"});
}

}  // namespace

Site decode_site(const Fields& root, Metadata metadata, Report& report) {
  const Fields spec = root.object("spec");
  const Fields location = spec.object("location");
  Site site{.metadata = std::move(metadata),
            .role = spec.text("role"),
            .region = location.text("region"),
            .address = location.text("address"),
            .prefixes = spec.cidrs("prefixes"),
            .node_selector = spec.string_map("nodeSelector"),
            .remote_cluster = spec.named_reference("remoteClusterRef")};
  if (const Fields overlay = spec.object("overlay")) {
    site.overlay = Overlay{.address = overlay.text("address"),
                           .port = overlay.integer("port"),
                           .public_key = overlay.text("publicKey"),
                           .mtu = overlay.integer("mtu")};
    if (const Fields secret = overlay.object("keySecretRef")) site.overlay->key_secret = secret.reference();
  }
  for (std::size_t i = 0; i < site.prefixes.size(); ++i) {
    const auto first = std::find_if(site.prefixes.begin(), site.prefixes.begin() + static_cast<std::ptrdiff_t>(i),
                                    [&](const auto& other) { return other.value == site.prefixes[i].value; });
    if (first == site.prefixes.begin() + static_cast<std::ptrdiff_t>(i)) continue;
    report.add({.code = DiagnosticCode::kConflict,
                .severity = Severity::kWarning,
                .field = "spec.prefixes[" + std::to_string(i) + "]",
                .span = site.prefixes[i].span,
                .message = "the network " + to_string(site.prefixes[i].value) + " is listed twice",
                .labels = {{first->span, "first listed here"}},
                .fix = "leave one out"});
  }
  return site;
}

WanLink decode_wan_link(const Fields& root, Metadata metadata, Report& report) {
  const Fields spec = root.object("spec");
  const Fields bandwidth = spec.object("bandwidth");
  const Fields probe = spec.object("probe");
  WanLink link{.metadata = std::move(metadata),
               .site = spec.named_reference("siteRef").value_or(Reference()),
               .role = spec.text("role"),
               .provider = spec.text("provider"),
               .interface = spec.text("interface"),
               .address = spec.ip("address"),
               .gateway = spec.ip("gateway"),
               .down_mbps = bandwidth.integer("downMbps"),
               .up_mbps = bandwidth.integer("upMbps"),
               .cost = spec.integer("cost"),
               .metered = spec.boolean("metered"),
               .probe = {.protocol = probe.text("protocol"),
                         .targets = probe.strings("targets"),
                         .port = probe.integer("port"),
                         .interval = probe.duration("interval"),
                         .timeout = probe.duration("timeout"),
                         .window = probe.integer("window")},
               .thresholds = decode_bounds(spec.object("thresholds")),
               .enabled = spec.boolean("enabled")};
  const auto& protocol = link.probe.protocol;
  if (protocol && protocol->value != "UDP" && link.probe.targets.empty()) {
    report.fault(DiagnosticCode::kMissingField, protocol->span, "spec.probe.targets",
                 "the field `targets` is required with protocol " + protocol->value,
                 "name the addresses that are probed, or leave the protocol out to measure the tunnels");
  }
  return link;
}

WanPolicy decode_wan_policy(const Fields& root, Metadata metadata, Report& report) {
  const Fields spec = root.object("spec");
  const Fields path = spec.object("path");
  const Fields failover = spec.object("failover");
  const Fields qos = spec.object("qos");
  WanPolicy policy{.metadata = std::move(metadata),
                   .sites = spec.named_references("siteRefs"),
                   .priority = spec.integer("priority"),
                   .strategy = path.text("strategy"),
                   .links = path.named_references("linkRefs"),
                   .fallback = path.text("fallback"),
                   .sla = decode_bounds(spec.object("sla")),
                   .failover_after = failover.duration("after"),
                   .back_after = failover.duration("backAfter"),
                   .set_dscp = qos.integer("dscp"),
                   .traffic_class = qos.text("class")};
  spec.entries("matches", [&](const Fields& entry) {
    policy.matches.push_back(decode_match(entry));
    check_ports(policy.matches.back(), policy.matches.size() - 1, report);
  });
  return policy;
}

}  // namespace edge::compiler::model
