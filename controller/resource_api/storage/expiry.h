// Events are told for an hour after they were last written, as Kubernetes keeps them: they are news, not state.
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

  /// Looks at a bounded number of events, when it is time; stages the removal of old ones. \returns when to be called
  /// again.
  std::chrono::milliseconds work();

 private:
  Changes& changes_;
  ObjectKey next_{};  ///< where the next look begins
  std::int64_t due_ = 0;
};

}  // namespace edge::resource_api
