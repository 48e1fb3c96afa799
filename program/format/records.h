// Reads records: packed fields, optional records, and lookups by id.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "base/ip.h"
#include "program/read.h"

namespace edge::program {

/// The destinations of an action's requests (rule D3).
struct Split {
  std::span<const BackendRefRecord> backends;  ///< empty: the filters answer, or 500
  std::uint32_t total_weight = 0;
  std::uint32_t canary = kNone;  ///< index into backends for `X-Canary: true`; kNone: none
  /// One per backend, or none; see SplitRecord::treatments.
  std::span<const std::uint32_t> treatments{};
};

inline Split split_of(const SectionView& host, const ActionRecord& action) {
  if (action.split == kNone) return {};
  const auto& header = host.header<HostHeader>();
  if ((action.split & kSingleBackendBit) != 0) {
    const auto single = host.array(header.backend_refs).subspan(action.split & ~kSingleBackendBit, 1);
    return {single, single[0].weight, 0, {}};
  }
  const SplitRecord& split = host.array(header.splits)[action.split];
  return {host.array(split.backends), split.total_weight, split.canary, host.array(split.treatments)};
}

/// Returns the treatment of an action's requests that go to the backend `chosen` of its split; kNone: to none.
inline const TreatmentRecord& treatment_record_of(const SectionView& host, const ActionRecord& action,
                                                  const Split& split, std::uint32_t chosen) {
  const bool own = chosen < split.treatments.size();
  return host.array(host.header<HostHeader>().treatments)[own ? split.treatments[chosen] : action.treatment];
}

inline std::string_view name_space_of(const SectionView& host, const RouteRecord& route) {
  return host.string(host.array(host.header<HostHeader>().namespaces)[route.name_space]);
}

inline CidrRecord cidr_record(const Cidr& block) {
  CidrRecord record{};
  std::memcpy(record.address, block.address.bytes.data(), sizeof record.address);
  record.prefix_length = block.prefix_length;
  return record;
}
inline Cidr cidr_of(const CidrRecord& record) {
  Cidr block{{}, record.prefix_length};
  std::memcpy(block.address.bytes.data(), record.address, sizeof record.address);
  return block;
}

/// Returns whether a policy has sources of which only an agent knows what they hold.
inline bool has_values(const AddressSourcesRecord& sources) {
  return (sources.lists.count | sources.files.count | sources.countries.count | sources.systems.count) != 0;
}
inline bool is_empty(const AddressSourcesRecord& sources) {
  return sources.networks.count == 0 && !has_values(sources);
}

/// Returns whether an IPAccess policy allows a client address; nullopt: that depends on values.
inline std::optional<bool> lets_pass(const SectionView& policies, const IpAccessRecord& access,
                                     const IpAddress& client) {
  const auto among = [&](const AddressSourcesRecord& sources) {
    return std::ranges::any_of(policies.array(sources.networks),
                               [&](const CidrRecord& block) { return cidr_of(block).contains(client); });
  };
  if (among(access.deny)) return false;
  const bool allowed = is_empty(access.allow) || among(access.allow);
  if (!allowed && !has_values(access.allow)) return false;
  if (!allowed || has_values(access.deny)) return std::nullopt;
  return true;
}

/// Returns an optional record (an array of one or none): null if absent.
template <typename T>
const T* optional_of(const SectionView& section, ArrayRef<T> ref) {
  return ref.count == 0 ? nullptr : section.array(ref).data();
}

/// Finds a record by id in an ascending array; null when there is none.
template <typename T>
const T* find_by_id(std::span<const T> records, std::uint64_t id) {
  const auto found = std::lower_bound(records.begin(), records.end(), id,
                                      [](const T& record, std::uint64_t key) { return record.id < key; });
  return found != records.end() && found->id == id ? &*found : nullptr;
}

inline const PolicyRecord* find_policy(const SectionView& policies, std::uint64_t id) {
  return find_by_id(policies.array(policies.header<PoliciesHeader>().policies), id);
}

/// Returns what holds on a listener for requests that no rule takes; null: it has no policies.
inline const NoRouteRecord* find_no_route(const SectionView& policies, std::uint32_t listener) {
  const auto records = policies.array(policies.header<PoliciesHeader>().no_routes);
  const auto found = std::ranges::lower_bound(records, listener, {}, &NoRouteRecord::listener);
  return found == records.end() || found->listener != listener ? nullptr : &*found;
}

/// Returns by which policy tokens are verified before a rule is looked for on a listener; null: none of its rules
/// matches claims.
inline const ListenerClaimsRecord* find_listener_claims(const SectionView& policies, std::uint32_t listener) {
  const auto records = policies.array(policies.header<PoliciesHeader>().listener_claims);
  const auto found = std::ranges::lower_bound(records, listener, {}, &ListenerClaimsRecord::listener);
  return found == records.end() || found->listener != listener ? nullptr : &*found;
}

inline const BackendRecord* find_backend(const SectionView& backends, std::uint64_t id) {
  return find_by_id(backends.array(backends.header<BackendsHeader>().backends), id);
}

/// Returns the references of a backend to services of other clusters.
inline std::span<const ClusterRefRecord> clusters_of(const SectionView& backends, std::uint64_t backend_id) {
  const auto all = backends.array(backends.header<BackendsHeader>().clusters);
  const auto found = std::ranges::equal_range(all, backend_id, {}, &ClusterRefRecord::backend_id);
  return {found.begin(), found.end()};
}

}  // namespace edge::program
