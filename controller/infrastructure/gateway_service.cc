#include "controller/infrastructure/gateway_service.h"

#include <algorithm>
#include <cctype>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/text/json.h"

namespace edge::controller {
namespace {

using Json = nlohmann::json;

/// The controller that made an object.
constexpr const char* kController = EDGE_API_GROUP "/controller";
/// Names of the labels and annotations that spec.infrastructure gave it, to be taken away when they are there no more.
constexpr const char* kGiven = EDGE_API_GROUP "/infrastructure";
constexpr const char* kSlicesOfUs = "edge-controller." EDGE_API_GROUP;
constexpr std::size_t kMaxName = 63;    ///< of a Service (RFC 1035 label)
constexpr std::size_t kMaxSliced = 58;  ///< of a name that `-ipv4` is added to
constexpr std::size_t kMaxAddresses = 100;

/// What EndpointSlices may have: neither this node's own nor unspecified, link-local and multicast addresses.
bool may_be_endpoint(const IpAddress& address) {
  static const Cidr kRefused[] = {
      *parse_cidr("127.0.0.0/8"), *parse_cidr("0.0.0.0/32"), *parse_cidr("169.254.0.0/16"),
      *parse_cidr("224.0.0.0/4"), *parse_cidr("::/128"),     *parse_cidr("::1/128"),
      *parse_cidr("fe80::/10"),   *parse_cidr("ff00::/8"),   *parse_cidr("255.255.255.255/32")};
  return std::ranges::none_of(kRefused, [&](const Cidr& block) { return block.contains(address); });
}

std::string port_name(const ServicePort& port) {
  return (port.datagrams ? "udp-" : "tcp-") + std::to_string(port.number);
}

Json port_json(const ServicePort& port) {
  return {{"name", port_name(port)}, {"port", port.number}, {"protocol", port.datagrams ? "UDP" : "TCP"}};
}

Json names_of(const std::map<std::string, std::string>& entries) {
  Json names = Json::array();
  for (const auto& [name, value] : entries) names.push_back(name);
  return names;
}

/// Metadata of everything that is made: what the infrastructure says, and over it what says whose it is.
Json metadata_of(const GatewayService& service, const std::string& name) {
  Json labels = Json::object();
  for (const auto& [key, value] : service.labels) labels[key] = value;
  labels[std::string(kGatewayNameLabel)] = service.gateway.name;
  Json annotations = Json::object();
  for (const auto& [key, value] : service.annotations) annotations[key] = value;
  annotations[kController] = service.controller;
  annotations[kGiven] =
      json_line(Json{{"labels", names_of(service.labels)}, {"annotations", names_of(service.annotations)}});
  return {{"name", name},
          {"namespace", service.gateway.name_space},
          {"labels", std::move(labels)},
          {"annotations", std::move(annotations)},
          {"ownerReferences",
           {{{"apiVersion", "gateway.networking.k8s.io/v1"},
             {"kind", "Gateway"},
             {"name", service.gateway.name},
             {"uid", service.uid},
             {"controller", true}}}}};
}

MadeObject service_object(const GatewayService& service, const std::string& name) {
  MadeObject made{.key = {"Service", service.gateway.name_space, name}, .text = {}};
  if (service.ports.empty()) return made;
  Json ports = Json::array();
  for (const ServicePort& port : service.ports) {
    ports.push_back(port_json(port));
    ports.back()["targetPort"] = port.number;
  }
  made.text = json_line(Json{{"apiVersion", "v1"},
                             {"kind", "Service"},
                             {"metadata", metadata_of(service, name)},
                             {"spec", {{"ports", std::move(ports)}}}});
  return made;
}

void add_slice(const GatewayService& service, const std::string& name, bool v4, std::vector<MadeObject>& made) {
  Json endpoints = Json::array();
  for (const IpAddress& address : service.addresses) {
    if (address.is_v4() != v4 || !may_be_endpoint(address) || endpoints.size() == kMaxAddresses) continue;
    endpoints.push_back({{"addresses", {to_string(address)}}, {"conditions", {{"ready", true}}}});
  }
  if (endpoints.empty() || service.ports.empty()) return;
  Json ports = Json::array();
  for (const ServicePort& port : service.ports) ports.push_back(port_json(port));
  const std::string slice = name + (v4 ? "-ipv4" : "-ipv6");
  Json metadata = metadata_of(service, slice);
  metadata["labels"]["kubernetes.io/service-name"] = name;
  metadata["labels"]["endpointslice.kubernetes.io/managed-by"] = kSlicesOfUs;
  made.push_back({.key = {"EndpointSlice", service.gateway.name_space, slice},
                  .text = json_line(Json{{"apiVersion", "discovery.k8s.io/v1"},
                                         {"kind", "EndpointSlice"},
                                         {"metadata", std::move(metadata)},
                                         {"addressType", v4 ? "IPv4" : "IPv6"},
                                         {"endpoints", std::move(endpoints)},
                                         {"ports", std::move(ports)}})});
}

/// Whether everything of `wanted` is in `present`, which a server has added its defaults to.
bool has_all(const Json& present, const Json& wanted) {
  if (wanted.is_object()) {
    for (const auto& [name, value] : wanted.items()) {
      if (!has_all(member_in(present, name), value)) return false;
    }
    return present.is_object();
  }
  if (!wanted.is_array()) return present == wanted;
  if (!present.is_array() || present.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!has_all(present[i], wanted[i])) return false;
  }
  return true;
}

/// Adds nulls for what the infrastructure gave before.
void take_away(const Json& present, const char* which, Json& wanted) {
  const Json given = parse_json(text_in(member_in(present, "annotations"), kGiven));
  for (const Json& name : list_in(given, which)) {
    if (!name.is_string() || wanted[which].contains(name.get_ref<const std::string&>())) continue;
    if (member_in(present, which).contains(name.get_ref<const std::string&>())) {
      wanted[which][name.get_ref<const std::string&>()] = nullptr;
    }
  }
}

}  // namespace

std::string service_name(std::string_view gateway, std::string_view class_name) {
  const std::string whole = std::string(gateway) + "-" + std::string(class_name);
  std::string name;
  for (const char c : whole) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  const bool begins_well = std::isalpha(static_cast<unsigned char>(name.front())) != 0;
  if (begins_well && name == whole && name.size() <= kMaxSliced) return name;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hash;
  for (std::uint64_t left = hash_bytes(0, whole); hash.size() < 8; left >>= 4) hash += kDigits[left & 15];
  if (!begins_well) name.insert(0, "gateway-");
  return name.substr(0, kMaxSliced - 1 - hash.size()) + "-" + hash;
}

std::vector<MadeObject> objects_of(const GatewayService& service) {
  const std::string name = service_name(service.gateway.name, service.class_name);
  static_assert(kMaxSliced + 5 == kMaxName);
  std::vector<MadeObject> made{service_object(service, name)};
  add_slice(service, name, /*v4=*/true, made);
  add_slice(service, name, /*v4=*/false, made);
  return made;
}

MadeFor made_for(std::string_view text) {
  if (text.find(kGatewayNameLabel) == std::string_view::npos) return {};
  const Json object = parse_json(text);
  const Json& metadata = member_in(object, "metadata");
  return {.controller = text_in(member_in(metadata, "annotations"), kController),
          .gateway = text_in(member_in(metadata, "labels"), kGatewayNameLabel)};
}

std::string patch_of(std::string_view text, std::string_view made) {
  const Json present = parse_json(text);
  Json wanted = parse_json(made);
  if (!present.is_object() || !wanted.is_object()) return {};
  const Json& metadata = member_in(present, "metadata");
  if (has_all(present, wanted)) return {};
  for (const char* which : {"labels", "annotations"}) take_away(metadata, which, wanted["metadata"]);
  wanted["metadata"]["resourceVersion"] = text_in(metadata, "resourceVersion");
  // It cannot be changed.
  wanted.erase("addressType");
  return json_line(wanted);
}

}  // namespace edge::controller
