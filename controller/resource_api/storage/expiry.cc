#include "controller/resource_api/storage/expiry.h"

#include <algorithm>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/resource_api/builtin_kinds.h"
#include "controller/resource_api/objects/metadata.h"

namespace edge::resource_api {
namespace {

using objects::Json;

// Some milliseconds of the loop now and then: 3,000 events a minute.
constexpr std::size_t kEventsALook = 256;
constexpr std::int64_t kSecondsBetween = 5;

/// Every write leaves its time with its manager.
std::int64_t last_written(const Object& object) {
  const Json value = Json::parse(object.text, nullptr, false);
  const Json& metadata = value["metadata"];
  std::int64_t last = objects::time_of(text_in(metadata, "creationTimestamp"));
  for (const Json& entry : list_in(metadata, "managedFields")) {
    last = std::max(last, objects::time_of(text_in(entry, "time")));
  }
  return last;
}

}  // namespace

std::chrono::milliseconds EventExpiry::work() {
  const std::int64_t now = changes_.seconds();
  if (now < due_) return std::chrono::seconds(due_ - now);
  due_ = now + kSecondsBetween;
  const Collection& events = changes_.store().collection(kEvents);
  std::vector<ObjectPtr> looked_at;
  for (auto at = events.objects.lower_bound(next_); at != events.objects.end() && looked_at.size() < kEventsALook;
       ++at) {
    looked_at.push_back(at->second);
  }
  next_ = {};
  if (looked_at.size() == kEventsALook) {
    next_ = looked_at.back()->key;
    next_.name += '\0';
  }
  for (const ObjectPtr& event : looked_at) {
    if (last_written(*event) + kEventSeconds < now) changes_.remove(events, event->key);
  }
  return std::chrono::seconds(kSecondsBetween);
}

}  // namespace edge::resource_api
