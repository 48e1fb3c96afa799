// Deletes Events an hour after they were last written, as Kubernetes does.
#pragma once

#include <chrono>
#include <cstdint>

#include "controller/resource_api/storage/changes.h"
#include "controller/resource_api/storage/store.h"

namespace edge::resource_api {

inline constexpr std::int64_t kEventSeconds = 3600;

class EventExpiry {
 public:
  explicit EventExpiry(Changes& changes) : changes_(changes) {}

  /// Checks a bounded number of events when due, and stages the removal of old ones. \returns when to call it again.
  std::chrono::milliseconds work();

 private:
  Changes& changes_;
  ObjectKey next_{};  ///< where the next check begins
  std::int64_t due_ = 0;
};

}  // namespace edge::resource_api
