// Conditions: the contents of a resource's status, for controllers and for `validate --conditions`. Linking writes them
// in addition to diagnostics: a diagnostic is for users, a condition for the cluster.
//
// Of up to 100,000 routes nearly all are valid, so that only others are stored; `conditions_of` adds the rest. Types
// and reasons are those of Gateway API where it has them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace edge::compiler {

enum class ConditionStatus : std::uint8_t { kTrue, kFalse, kUnknown };

struct Condition {
  std::string type;
  ConditionStatus status = ConditionStatus::kTrue;
  std::string reason;
  std::string message{};

  friend bool operator==(const Condition&, const Condition&) = default;
};

namespace condition {
// Types. `Ready` is never stored: it is derived from the others.
inline constexpr std::string_view kAccepted = "Accepted";
inline constexpr std::string_view kConflicted = "Conflicted";
/// For backends (specification, "ProxyBackend"): at least one endpoint is healthy. Linking can only tell that there is
/// none.
inline constexpr std::string_view kHealthy = "Healthy";
/// Of backends with clusterRefs: every cluster that is named exports the service and is reached.
inline constexpr std::string_view kClustersReady = "ClustersReady";
/// Of Gateways: clients are served whether or not their certificate verifies (AllowInsecureFallback).
inline constexpr std::string_view kInsecureValidation = "InsecureFrontendValidationMode";
/// Of backends: `True` where so few endpoints are there that maxEjectionPercent allows none to be ejected.
inline constexpr std::string_view kNoEjection = "NoEjection";
inline constexpr std::string_view kPartiallyInvalid = "PartiallyInvalid";
inline constexpr std::string_view kProgrammed = "Programmed";
inline constexpr std::string_view kReady = "Ready";
inline constexpr std::string_view kResolvedRefs = "ResolvedRefs";
inline constexpr std::string_view kShadowed = "Shadowed";
}  // namespace condition

namespace reason {
// For valid resources; `Valid` is the reason of Ready (specification, "States and transitions").
inline constexpr std::string_view kAccepted = "Accepted";
inline constexpr std::string_view kConfigurationChanged = "ConfigurationChanged";
inline constexpr std::string_view kNoConflicts = "NoConflicts";
inline constexpr std::string_view kProgrammed = "Programmed";
inline constexpr std::string_view kResolvedRefs = "ResolvedRefs";
inline constexpr std::string_view kValid = "Valid";
// For rejected resources.
inline constexpr std::string_view kHostnameConflict = "HostnameConflict";
inline constexpr std::string_view kInvalid = "Invalid";
inline constexpr std::string_view kInvalidParameters = "InvalidParameters";
inline constexpr std::string_view kConflicted = "Conflicted";
inline constexpr std::string_view kListenersNotValid = "ListenersNotValid";
inline constexpr std::string_view kNoValidAuthority = "NoValidCACertificate";
inline constexpr std::string_view kNoMatchingListenerHostname = "NoMatchingListenerHostname";
inline constexpr std::string_view kNoMatchingParent = "NoMatchingParent";
inline constexpr std::string_view kNotAllowed = "NotAllowed";
inline constexpr std::string_view kNotAllowedByListeners = "NotAllowedByListeners";
inline constexpr std::string_view kParentNotAccepted = "ParentNotAccepted";
inline constexpr std::string_view kProtocolConflict = "ProtocolConflict";
inline constexpr std::string_view kTargetNotFound = "TargetNotFound";
inline constexpr std::string_view kUnsupportedAddress = "UnsupportedAddress";
inline constexpr std::string_view kUnsupportedProtocol = "UnsupportedProtocol";
inline constexpr std::string_view kUnsupportedValue = "UnsupportedValue";
// Of what is not programmed, or not as it was asked for.
inline constexpr std::string_view kAddressNotAssigned = "AddressNotAssigned";
inline constexpr std::string_view kAddressNotUsable = "AddressNotUsable";
inline constexpr std::string_view kMaxEjectionPercentTooSmall = "MaxEjectionPercentTooSmall";
inline constexpr std::string_view kNoEndpoints = "NoEndpoints";
inline constexpr std::string_view kNotServed = "NotServed";
inline constexpr std::string_view kExported = "Exported";
inline constexpr std::string_view kNotExported = "NotExported";
// For references.
inline constexpr std::string_view kBackendNotFound = "BackendNotFound";
inline constexpr std::string_view kInvalidCaKind = "InvalidCACertificateKind";
inline constexpr std::string_view kInvalidCaRef = "InvalidCACertificateRef";
inline constexpr std::string_view kInvalidCertificateRef = "InvalidCertificateRef";
inline constexpr std::string_view kInvalidClientCertificateRef = "InvalidClientCertificateRef";
inline constexpr std::string_view kInvalidKind = "InvalidKind";
inline constexpr std::string_view kInvalidRouteKinds = "InvalidRouteKinds";
inline constexpr std::string_view kRefNotPermitted = "RefNotPermitted";
inline constexpr std::string_view kSecretNotFound = "SecretNotFound";
inline constexpr std::string_view kSecretNotUsable = "SecretNotUsable";
inline constexpr std::string_view kServiceNotFound = "ServiceNotFound";
inline constexpr std::string_view kPortNotFound = "PortNotFound";
// For shadowed rules.
inline constexpr std::string_view kShadowed = "Shadowed";
}  // namespace reason

/// The status of one entry of a route's spec.parentRefs, or of a ProxyPolicy's targets (GEP-713: its ancestor).
struct ParentStatus {
  std::uint32_t parent_ref = 0;  ///< index in spec.parentRefs or spec.targetRefs
  std::vector<Condition> conditions{};

  friend bool operator==(const ParentStatus&, const ParentStatus&) = default;
};

struct ListenerStatus {
  std::string name{};
  std::uint32_t attached_routes = 0;
  std::vector<std::string> supported_kinds{};
  std::vector<Condition> conditions{};

  friend bool operator==(const ListenerStatus&, const ListenerStatus&) = default;
};

/// Which gateway has an address of a pool.
struct PoolUse {
  std::string address{};
  std::string kind{};
  std::string name_space{};
  std::string name{};

  friend bool operator==(const PoolUse&, const PoolUse&) = default;
};

struct ResourceStatus {
  std::string kind{};
  std::string name_space{};
  std::string name{};
  std::int64_t observed_generation = 0;               ///< metadata.generation; 0 when it carries none
  std::vector<Condition> conditions{};                ///< of the resource itself; for routes: on every parent
  std::vector<ParentStatus> parents{};                ///< of routes and policies; those that are fine are left out
  std::vector<ListenerStatus> listeners{};            ///< of gateways; each, in the order of spec.listeners
  std::vector<std::string> addresses{};               ///< of gateways
  std::uint32_t attached_listener_sets = 0;           ///< of Gateways: those that are accepted
  std::optional<std::vector<PoolUse>> allocations{};  ///< of ProxyVIPs with a pool, by address
  std::string parent_space{};                         ///< of ListenerSets: namespace of the Gateway
  std::string parent_name{};
  /// Of GatewayClasses: names of Gateway API's features, sorted.
  std::vector<std::string> supported_features{};

  friend bool operator==(const ResourceStatus&, const ResourceStatus&) = default;
};

/// Sets the condition of this type. One that reports an error is not replaced: the first error is kept.
void set_condition(std::vector<Condition>& conditions, Condition condition);
/// nullptr when none of this type is stored.
const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type);

/// Returns `stored` (nullptr: no errors) with the conditions that a valid resource of this kind has, and with `Ready`.
/// In the order Accepted, Programmed, ResolvedRefs, others by name, Ready last.
std::vector<Condition> conditions_of(std::string_view kind, const ResourceStatus* stored);

/// Merges to one status per resource: sorts by kind, namespace and name, and combines the conditions of duplicates.
void sort_and_merge(std::vector<ResourceStatus>& statuses);
/// Searches the result of `sort_and_merge`; nullptr: the resource is valid.
const ResourceStatus* find_status(const std::vector<ResourceStatus>& statuses, std::string_view kind,
                                  std::string_view name_space, std::string_view name);

}  // namespace edge::compiler
