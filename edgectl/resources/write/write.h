// Sends objects: created, applied by a client-side three-way merge like kubectl's, or by server-side apply.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "edgectl/resources/cluster.h"
#include "edgectl/resources/write/wait.h"

namespace edge::edgectl {

enum class DryRun : std::uint8_t { kNone, kClient, kServer };

struct WriteSettings {
  bool server_side = false;
  bool force = false;  ///< for server-side apply: takes fields from other managers
  DryRun dry_run = DryRun::kNone;
  std::string field_manager{kFieldManager};
  std::string field_validation{};  ///< Strict, Warn, Ignore

  kube::WriteOptions options() const;
};

struct WriteResult {
  kube::Failure failure{};
  std::string_view done{};  ///< `created`, `configured`, `unchanged`, `serverside-applied`
  kube::Object object{};    ///< the current object; for a client-side dry run the one that would be sent
  std::vector<std::string> warnings{};
};

/// `name_space`: empty for cluster-scoped kinds.
WriteResult create_object(Cluster& cluster, const Type& type, const std::string& name_space,
                          const nlohmann::json& object, const WriteSettings& settings);
/// Creates the object, or updates the existing one to `object`. What others added stays.
WriteResult apply_object(Cluster& cluster, const Type& type, const std::string& name_space,
                         const nlohmann::json& object, const WriteSettings& settings);

/// `proxyroute.edgeproxy.io/cart created (server dry run)`
std::string done_text(const Type& type, const std::string& name, std::string_view done, DryRun dry_run);

/// Returns the object in the form for --wait=programmed.
Written written(const Type& type, const kube::Object& object);

}  // namespace edge::edgectl
