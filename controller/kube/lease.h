// A Lease (coordination.k8s.io/v1) for the elector: its record, and the complete object to be written back, with
// everything that others have added.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "controller/kube/resource.h"

namespace edge::kube {

const Resource& lease_resource();

struct LeaseRecord {
  std::string holder;
  std::string acquired, renewed;  ///< MicroTime; compared as text only, never with a clock
  std::int64_t seconds = 0;
  std::int64_t transitions = 0;
  friend bool operator==(const LeaseRecord&, const LeaseRecord&) = default;
};

Result<LeaseRecord> read_lease(std::string_view text);
/// Returns `text` with `record` as its spec; empty text: a new object.
std::string write_lease(std::string_view text, const std::string& name_space, const std::string& name,
                        const LeaseRecord& record);

}  // namespace edge::kube
