// Sending objects: created, applied by a three-way merge as kubectl does on its side, or applied by the server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "edgectl/resources/cluster.h"
#include "edgectl/resources/wait.h"

namespace edge::edgectl {

enum class DryRun : std::uint8_t { kNone, kClient, kServer };

struct WriteSettings {
  bool server_side = false;
  bool force = false;  ///< of a server-side apply: takes fields that others manage
  DryRun dry_run = DryRun::kNone;
  std::string field_manager{kFieldManager};
  std::string field_validation{};  ///< Strict, Warn, Ignore

  kube::WriteOptions options() const;
};

struct WriteResult {
  kube::Failure failure{};
  std::string_view done{};  ///< `created`, `configured`, `unchanged`, `serverside-applied`
  kube::Object object{};    ///< as it is now; of a dry run by the client alone, as it would be sent
  std::vector<std::string> warnings{};
};

/// `place`: the namespace, empty for kinds without.
WriteResult create_object(Cluster& cluster, const Type& type, const std::string& name_space,
                          const nlohmann::json& object, const WriteSettings& settings);
/// Creates it or brings what is there to what `object` says. What others added stays.
WriteResult apply_object(Cluster& cluster, const Type& type, const std::string& name_space,
                         const nlohmann::json& object, const WriteSettings& settings);

/// `proxyroute.edgeproxy.io/cart created (server dry run)`
std::string done_text(const Type& type, const std::string& name, std::string_view done, DryRun dry_run);

/// What --wait=programmed waits for.
Written written(const Type& type, const kube::Object& object);

}  // namespace edge::edgectl
