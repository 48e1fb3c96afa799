#include "controller/kube/lease.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::kube {
namespace {

constexpr std::int64_t kLongest = 24 * 3600;
constexpr std::int64_t kMostTransitions = 1'000'000'000;

std::int64_t number_of(const nlohmann::json& object, const char* key, std::int64_t most) {
  const nlohmann::json& member = member_in(object, key);
  return member.is_number_integer() ? std::clamp<std::int64_t>(member.get<std::int64_t>(), 0, most) : 0;
}

}  // namespace

const Resource& lease_resource() {
  static const Resource kLease{
      .group = "coordination.k8s.io", .version = "v1", .plural = "leases", .kind = "Lease", .namespaced = true};
  return kLease;
}

Result<LeaseRecord> read_lease(std::string_view text) {
  const nlohmann::json object = parse_json(text);
  if (!object.is_object()) return Error{ErrorCode::kInvalidArgument, "the lease is no object"};
  const nlohmann::json& spec = member_in(object, "spec");
  return LeaseRecord{.holder = text_in(spec, "holderIdentity"),
                     .acquired = text_in(spec, "acquireTime"),
                     .renewed = text_in(spec, "renewTime"),
                     .seconds = number_of(spec, "leaseDurationSeconds", kLongest),
                     .transitions = number_of(spec, "leaseTransitions", kMostTransitions)};
}

std::string write_lease(std::string_view text, const std::string& name_space, const std::string& name,
                        const LeaseRecord& record) {
  nlohmann::json object = text.empty() ? nlohmann::json::object() : parse_json(text);
  if (!object.is_object()) object = nlohmann::json::object();
  object["apiVersion"] = "coordination.k8s.io/v1";
  object["kind"] = "Lease";
  nlohmann::json& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = nlohmann::json::object();
  metadata["name"] = name;
  metadata["namespace"] = name_space;
  metadata.erase("managedFields");
  nlohmann::json& spec = object["spec"];
  if (!spec.is_object()) spec = nlohmann::json::object();
  spec["holderIdentity"] = record.holder;
  spec["leaseDurationSeconds"] = record.seconds;
  spec["leaseTransitions"] = record.transitions;
  spec["acquireTime"] = record.acquired;
  spec["renewTime"] = record.renewed;
  return json_line(object);
}

}  // namespace edge::kube
