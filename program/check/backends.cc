#include <algorithm>
#include <string_view>
#include <tuple>

#include "program/check/checker.h"
#include "program/cluster_traffic.h"
#include "program/values/endpoints.h"

namespace edge::program {
namespace {

bool check_health(Checker& check, const HealthCheckRecord& record) {
  static constexpr const char* kField = "backends.health_check";
  const bool sound = record.protocol >= ProbeProtocol::kHttp && record.protocol <= ProbeProtocol::kGrpc &&
                     check.text(record.path) && check.text(record.host) && check.text(record.grpc_service);
  if (!check.require(sound, kField) || !check.array(record.expected_status, kField) ||
      !check.array(record.headers, kField))
    return false;
  bool headers = true;
  for (const HeaderRecord& header : check.view().array(record.headers))
    headers &= check.text(header.name) && check.text(header.value);
  return check.require(headers, kField);
}

bool check_tls(Checker& check, const BackendTlsRecord& record) {
  static constexpr const char* kField = "backends.tls";
  if (!check.require(check.text(record.server_name) && record.client_certificate.count <= 1, kField) ||
      !check.secrets(record.authorities, kField) || !check.secrets(record.client_certificate, kField) ||
      !check.array(record.alternative_names, kField))
    return false;
  bool names = true;
  for (const SubjectNameRecord& subject : check.view().array(record.alternative_names))
    names &= subject.uri <= 1 && check.text(subject.name);
  return check.require(names, kField);
}

bool check_backend(Checker& check, const BackendRecord& backend, std::uint64_t previous, std::size_t index) {
  const auto health = [&](const HealthCheckRecord& record) { return check_health(check, record); };
  const auto passive = [&](const PassiveCheckRecord& record) {
    return check.require(record.max_ejection_percent <= 100, "backends.passive_check");
  };
  const auto breaker = [&](const CircuitBreakerRecord& record) {
    return check.require(record.max_ejection_percent <= 100 && record.split_local_errors <= 1,
                         "backends.circuit_breaker");
  };
  const auto tls = [&](const BackendTlsRecord& record) { return check_tls(check, record); };
  const bool sound = backend.id > previous && check.text(backend.name_space) && check.text(backend.name) &&
                     backend.balance >= Balance::kRoundRobin && backend.balance <= Balance::kRandom &&
                     backend.protocol <= BackendProtocol::kUdp && backend.proxy_protocol <= ProxyProtocol::kV2 &&
                     // One client's name for the requests of many.
                     (backend.protocol != BackendProtocol::kHttp2 || backend.proxy_protocol == ProxyProtocol::kNone) &&
                     // Datagrams are told of by version 2 alone, and are not encrypted.
                     (backend.protocol != BackendProtocol::kUdp ||
                      (backend.proxy_protocol != ProxyProtocol::kV1 && backend.tls.count == 0));
  return check.require(sound && backend.flags <= kTakesTrailers, "backends", index) &&
         check.texts(backend.trailers, "backends.trailers") &&
         check.optional(backend.health_check, "backends.health_check", health) &&
         check.optional(backend.passive_check, "backends.passive_check", passive) &&
         check.optional(backend.circuit_breaker, "backends.circuit_breaker", breaker) &&
         check.optional(backend.tls, "backends.tls", tls);
}

/// Of backends that are there, in order, one of a cluster each.
bool check_clusters(Checker& check, const BackendsHeader& header) {
  static constexpr const char* kField = "clusters";
  if (!check.array(header.clusters, kField)) return false;
  const SectionView& view = check.view();
  const auto backends = view.array(header.backends);
  std::tuple<std::uint64_t, std::string_view> before{};
  std::size_t of_backend = 0;
  for (const ClusterRefRecord& record : view.array(header.clusters)) {
    const bool sound = check.text(record.cluster) && record.cluster.size != 0 && check.text(record.service) &&
                       check.text(record.region) && record.priority >= 1 && record.priority <= kMostClusterPriority &&
                       record.weight >= 1 && record.weight <= kMostEndpointWeight && record.healthy_percent >= 1 &&
                       record.healthy_percent <= 100 && record.tls.count == 1;
    if (!check.require(sound, kField)) return false;
    const std::tuple<std::uint64_t, std::string_view> key(record.backend_id, view.string(record.cluster));
    of_backend = std::get<0>(before) == record.backend_id ? of_backend + 1 : 1;
    const auto found = std::ranges::lower_bound(backends, record.backend_id, {}, &BackendRecord::id);
    // Datagrams, and what one client's PROXY header begins, do not go to other clusters.
    const bool of_one = found != backends.end() && found->id == record.backend_id &&
                        found->protocol != BackendProtocol::kUdp && found->proxy_protocol == ProxyProtocol::kNone;
    if (!check.require(of_one && before < key && of_backend <= kMostClusterRefs, kField)) return false;
    if (!check.optional(record.tls, kField, [&](const BackendTlsRecord& tls) { return check_tls(check, tls); }))
      return false;
    before = key;
  }
  return true;
}

}  // namespace

void check_backends(Checker& check) {
  const SectionView& view = check.view();
  if (!check.require(view.bytes().size() >= sizeof(BackendsHeader), "header") || !check.require(check.id() == 0, "id"))
    return;
  const auto& header = view.header<BackendsHeader>();
  if (!check.array(header.backends, "backends")) return;
  std::uint64_t previous = 0;
  std::size_t index = 0;
  for (const BackendRecord& backend : view.array(header.backends)) {
    if (!check_backend(check, backend, previous, index++)) return;
    previous = backend.id;
  }
  check_clusters(check, header);
}

}  // namespace edge::program
