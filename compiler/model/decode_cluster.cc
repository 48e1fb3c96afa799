#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/text/base64.h"
#include "compiler/model/decode_kinds.h"

namespace edge::compiler::model {
namespace {

constexpr std::string_view kZoneDistributions[] = {"PreferClose", "PreferSameZone", "PreferSameNode"};

/// Adds its zones to addresses of an endpoint. One that is going away counts to no zone: what replaces it is there.
void set_zones(const Fields& endpoint, std::span<EndpointAddress> addresses) {
  if (endpoint.object("conditions").boolean("terminating").value_or(Located<bool>{}).value) return;
  const auto zone = endpoint.text("zone");
  std::vector<std::string> hints;
  endpoint.object("hints").entries("forZones", [&](const Fields& hint) {
    if (const auto name = hint.text("name")) hints.push_back(name->value);
  });
  for (EndpointAddress& address : addresses) {
    if (zone) address.zone = zone->value;
    address.for_zones = hints;
  }
}

/// `protocol` as it is read: without it TCP.
bool is_protocol(const Fields& port, std::string_view protocol) {
  const auto given = port.text("protocol");
  return (given ? std::string_view(given->value) : "TCP") == protocol;
}

std::vector<EndpointPort> decode_ports(const Fields& fields, std::string_view protocol) {
  std::vector<EndpointPort> ports;
  fields.entries("ports", [&](const Fields& entry) {
    if (!is_protocol(entry, protocol)) return;
    EndpointPort port{.name = entry.needed_text("name").value,
                      .port = static_cast<std::uint16_t>(entry.needed_integer("port").value)};
    if (port.port != 0) ports.push_back(std::move(port));
  });
  return ports;
}

void add_addresses(const Fields& fields, std::string_view key, bool ready, std::vector<EndpointAddress>& out) {
  fields.entries(key, [&](const Fields& entry) {
    if (const auto ip = entry.ip("ip")) out.push_back({.address = ip->value, .ready = ready});
  });
}

}  // namespace

Service decode_service(const Fields& root, Metadata metadata) {
  Service service{.metadata = std::move(metadata)};
  const Fields spec = root.object("spec");
  if (const auto wanted = spec.text("trafficDistribution")) {
    // Of the same node: where that is not known, Kubernetes goes by the zone.
    service.prefers_zone = std::ranges::find(kZoneDistributions, wanted->value) != std::end(kZoneDistributions);
  }
  spec.entries("ports", [&](const Fields& entry) {
    const bool udp = is_protocol(entry, "UDP");
    if (!udp && !is_protocol(entry, "TCP")) return;
    const auto spoken = entry.text("appProtocol");
    (udp ? service.udp_ports : service.ports)
        .push_back({.name = entry.needed_text("name").value,
                    .port = static_cast<std::uint16_t>(entry.needed_integer("port").value),
                    .target = entry.port("targetPort"),
                    .protocol = spoken ? spoken->value : std::string()});
  });
  return service;
}

EndpointSlice decode_slice(const Fields& root, Metadata metadata, Report& report) {
  EndpointSlice slice{
      .metadata = std::move(metadata), .ports = decode_ports(root, "TCP"), .udp_ports = decode_ports(root, "UDP")};
  const Fields labels = root.object("metadata").object("labels");
  if (const auto service = labels.text("kubernetes.io/service-name")) slice.service = service->value;
  if (slice.service.empty()) {
    report.fault(DiagnosticCode::kMissingField, slice.metadata.span, "metadata.labels",
                 "an EndpointSlice names its service by the label `kubernetes.io/service-name`");
  }
  if (root.needed_text("addressType").value == "FQDN") {
    report.fault(DiagnosticCode::kInvalidValue, root.node("addressType").span(), "addressType",
                 "endpoints of type FQDN are not resolved", "list addresses");
    return slice;
  }
  std::size_t index = 0;
  root.entries("endpoints", [&](const Fields& entry) {
    // Unknown is ready, as Kubernetes reads it.
    const bool ready = entry.object("conditions").boolean("ready").value_or(Located<bool>{true, {}}).value;
    const std::size_t before = slice.addresses.size();
    for (const Located<std::string>& text : entry.strings("addresses")) {
      if (const auto address = parse_ip(text.value)) {
        slice.addresses.push_back({.address = *address, .ready = ready});
      } else {
        report.fault(DiagnosticCode::kInvalidValue, text.span, "endpoints[" + std::to_string(index) + "].addresses",
                     in_quotes(text.value) + " is not an IP address");
      }
    }
    set_zones(entry, std::span(slice.addresses).subspan(before));
    ++index;
  });
  return slice;
}

std::vector<EndpointSlice> decode_endpoints(const Fields& root, const Metadata& metadata, Report&) {
  std::vector<EndpointSlice> slices;
  root.entries("subsets", [&](const Fields& subset) {
    EndpointSlice slice{.metadata = metadata,
                        .service = metadata.name,
                        .ports = decode_ports(subset, "TCP"),
                        .udp_ports = decode_ports(subset, "UDP")};
    add_addresses(subset, "addresses", true, slice.addresses);
    add_addresses(subset, "notReadyAddresses", false, slice.addresses);
    slices.push_back(std::move(slice));
  });
  return slices;
}

Secret decode_secret(const Fields& root, Metadata metadata, Report& report) {
  Secret secret{.metadata = std::move(metadata), .type = root.needed_text("type").value};
  const auto add = [&](std::string_view key, std::string value) {
    const std::size_t size = value.size();
    secret.entries.push_back({std::string(key), size, std::make_shared<const std::string>(std::move(value))});
  };
  if (const yaml::Node map = root.node("data")) {
    for (const yaml::Node entry : map) {
      auto value = from_base64(entry.text());
      // Neither the message nor the line that it shows may hold the value.
      if (!value) {
        report.fault(DiagnosticCode::kInvalidValue, secret.metadata.span, "data." + std::string(entry.key()),
                     "the value is not base64", "write it as it is under `stringData`");
      }
      add(entry.key(), std::move(value).value_or(std::string()));
    }
  }
  // Kubernetes lets stringData win over data.
  if (const yaml::Node map = root.node("stringData")) {
    for (const yaml::Node entry : map) add(entry.key(), std::string(entry.text()));
  }
  std::reverse(secret.entries.begin(), secret.entries.end());
  const auto by_key = [](const SecretEntry& a, const SecretEntry& b) { return a.key < b.key; };
  std::stable_sort(secret.entries.begin(), secret.entries.end(), by_key);
  const auto same = [](const SecretEntry& a, const SecretEntry& b) { return a.key == b.key; };
  secret.entries.erase(std::unique(secret.entries.begin(), secret.entries.end(), same), secret.entries.end());
  return secret;
}

ReferenceGrant decode_grant(const Fields& root, Metadata metadata) {
  ReferenceGrant grant{.metadata = std::move(metadata)};
  const Fields spec = root.object("spec");
  spec.entries("from", [&](const Fields& entry) {
    grant.from.push_back({.group = entry.needed_text("group").value,
                          .kind = entry.needed_text("kind").value,
                          .name_space = entry.needed_text("namespace").value});
  });
  spec.entries("to", [&](const Fields& entry) {
    grant.to.push_back({.group = entry.needed_text("group").value,
                        .kind = entry.needed_text("kind").value,
                        .name = entry.needed_text("name").value});
  });
  return grant;
}

}  // namespace edge::compiler::model
