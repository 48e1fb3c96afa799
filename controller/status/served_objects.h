// Records which version of every object is in the published program, so that a client that wrote one can wait for it.
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

/// A change of an object that is part of a compiled program.
struct TakenObject {
  ResourceId key;
  std::string uid{};
  std::string resource_version{};
  std::int64_t generation = 0;
  bool gone = false;
};

/// Thread-safe.
class ServedObjects {
 public:
  /// Records that `objects` are part of `program`, the number of the newest published one.
  void take(const std::vector<TakenObject>& objects, std::uint64_t program);
  void set_desired(const std::vector<DesiredStatus>& desired_statuses, std::uint64_t program);

  /// Returns how far a version has progressed. A deleted object counts as served by the newest program.
  ObjectProgress progress(const ObjectVersion& version) const;

 private:
  struct Acceptance {
    std::int64_t generation = 0;
    bool ours = false;
    std::string rejection;
  };
  struct Entry {
    std::string uid, resource_version;
    std::int64_t generation = 0;
    std::uint64_t program = 0;
    std::optional<Acceptance> acceptance;
  };

  mutable std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;  ///< of kinds with a status, by ResourceId::text()
  std::uint64_t newest_ = 0;
  bool begun_ = false;  ///< all objects of the cluster have been taken once
};

}  // namespace edge::controller
