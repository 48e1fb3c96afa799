// Which version of every object is in what was published, so that who wrote one can ask whether it has got there.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/resource_id.h"
#include "controller/distribute/progress.h"
#include "controller/status/desired_status.h"

namespace edge::controller {

/// An edit that was compiled.
struct TakenObject {
  ResourceId key;
  std::string uid{};
  std::string resource_version{};
  std::int64_t generation = 0;
  bool gone = false;
};

/// Every function may be called from any thread.
class ServedObjects {
 public:
  /// `program`: number of the newest that is published, these objects in it.
  void take(const std::vector<TakenObject>& objects, std::uint64_t program);
  void set_desired(const std::vector<DesiredStatus>& desired_statuses, std::uint64_t program);

  /// What is asked of an object that is gone holds for the newest program.
  ObjectProgress progress(const ObjectVersion& version) const;

 private:
  struct Opinion {
    std::int64_t generation = 0;
    bool ours = false;
    std::string rejection;
  };
  struct Entry {
    std::string uid, resource_version;
    std::int64_t generation = 0;
    std::uint64_t program = 0;
    std::optional<Opinion> opinion;
  };

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;  ///< of judged kinds, by ResourceId::text()
  std::uint64_t newest_ = 0;
  bool begun_ = false;  ///< the cluster has been told whole once
};

}  // namespace edge::controller
