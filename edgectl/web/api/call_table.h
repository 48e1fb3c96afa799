// The calls of the JSON API: the one table that the server routes by, read-only mode refuses by, and the OpenAPI
// document is made from.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace edge::edgectl::web {

enum class CallId : std::uint8_t {
  kSession,
  kRights,
  kRightsOfCluster,
  kOpenApi,
  kEvents,
  kKinds,
  kProblems,
  kObjects,
  kObject,
  kObjectOfCluster,
  kExplain,
  kAgents,
  kAgent,
  kDrain,
  kUndrain,
  kTraffic,
  kRange,
  kHistory,
  kTopology,
  kWan,
  kPolicyCover,
  kAddresses,
  kEndpoints,
  kCertificates,
  kAccessLog,
  kTraces,
  kTrace,
  kFields,
  kEdit,
  kEditOfCluster,
  kCheck,
  kDifference,
  kApply,
  kDelete,
  kProgress,
  kGivenClaims,
  kProve,
  kCompare,
  kAnalysis,
  kExplainKept,
  kRollback,
  kRelease,
  kFederation,
  kFederationConflict,
  kResolveConflict,
};

struct Call {
  CallId id;
  std::string_view method;
  std::string_view path;  ///< `/api/objects/{plural}`
  std::string_view name;  ///< operationId
  std::string_view summary;
  std::string_view reply;       ///< schema of a 200
  std::string_view body = {};   ///< schema of the request's body; empty: none
  bool changes = false;         ///< refused in read-only mode
  std::string_view query = {};  ///< names of optional parameters of the query, separated by blanks
};

std::span<const Call> calls();

struct FoundCall {
  const Call* call = nullptr;           ///< null: none of this path and method
  std::vector<std::string> parameters;  ///< decoded, in the order of the path
  std::string allow;                    ///< methods of the path; empty: it is none
};
FoundCall find_call(std::string_view method, std::string_view path);

/// Returns the OpenAPI 3.1 document.
std::string openapi_json();
/// Returns schemas.json: the schemas of bodies, by name.
std::string_view schemas_text();

}  // namespace edge::edgectl::web
