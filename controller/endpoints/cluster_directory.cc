#include "controller/endpoints/cluster_directory.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "program/cluster_traffic.h"

namespace edge::controller {
namespace {

using nlohmann::json;

std::optional<std::pair<IpAddress, std::uint16_t>> gateway_of(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto address = parse_ip(host);
  std::uint16_t port = 0;
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  if (!address || port == 0) return std::nullopt;
  return std::pair(*address, port);
}

}  // namespace

ClusterDirectory read_cluster_directory(std::string_view document) {
  ClusterDirectory read;
  const json root = parse_json(document);
  if (text_in(root, "certificate").empty()) return read;
  program::NamedSecret identity{
      std::string(program::kClusterSecretSpace), std::string(program::kClusterSecretName), {}};
  const auto add = [&](std::string_view key, const char* member) {
    identity.values.push_back({std::string(key), std::make_shared<const std::string>(text_in(root, member))});
  };
  add(program::kCertificateKey, "certificate");
  add(program::kPrivateKeyKey, "key");
  add(program::kClusterAuthorityKey, "authorities");
  add(program::kClusterPeersKey, "peers");
  std::ranges::sort(identity.values, {}, &program::SecretValue::key);
  read.identity = std::make_shared<const program::NamedSecret>(std::move(identity));
  for (const json& one : list_in(root, "clusters")) {
    compiler::link::ExportingCluster cluster{.name = text_in(one, "name")};
    if (const std::string& region = text_in(one, "region"); program::is_zone(region)) cluster.region = region;
    for (const json& gateway : list_in(one, "gateways")) {
      if (auto address = gateway_of(text_value(gateway))) cluster.gateways.push_back(*address);
    }
    const json& services = member_in(one, "services");
    if (services.is_object()) {
      for (const auto& [service, percent] : services.items()) {
        cluster.services[service] =
            static_cast<std::uint8_t>(percent.is_number_unsigned() ? std::min(100U, percent.get<unsigned>()) : 0);
      }
    }
    read.clusters.push_back(std::move(cluster));
  }
  std::ranges::sort(read.clusters, {}, &compiler::link::ExportingCluster::name);
  return read;
}

}  // namespace edge::controller
