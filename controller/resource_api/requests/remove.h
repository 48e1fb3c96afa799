// delete and deletecollection: at once, or by marking the object until it has no finalizers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "controller/resource_api/api.h"
#include "controller/resource_api/objects/status.h"
#include "controller/resource_api/requests/request.h"
#include "controller/resource_api/storage/changes.h"

namespace edge::resource_api {

inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr std::string_view kOrphanFinalizer = "orphan";

/// What happens to the objects that name this one as their owner.
enum class Propagation : std::uint8_t { kUnset, kBackground, kForeground, kOrphan };

/// Deletes one object, or sets its deletionTimestamp where it has finalizers. \returns the remaining object; nullptr:
/// it was deleted.
ObjectPtr remove_object(Changes& changes, const Collection& collection, const Object& object, Propagation propagation);

class Remover {
 public:
  Remover(Changes& changes, const ApiLimits& limits) : changes_(changes), limits_(limits) {}

  /// 200 with a Status, or with the object that still exists. 404, 409 when a precondition fails.
  ApiReply remove(const Operation& op, const ApiRequest& request);
  /// 200 with the list of deleted objects.
  ApiReply remove_collection(const Operation& op, const ApiRequest& request);

 private:
  struct Options {
    Propagation propagation = Propagation::kUnset;
    std::string uid;
    std::string version;
    bool dry_run = false;
  };
  using Fault = std::optional<objects::StatusError>;

  objects::Answer<Options> read_options(const Operation& op, const ApiRequest& request);
  Fault refuse(const Operation& op, const Object& object, const Options& options) const;

  Changes& changes_;
  const ApiLimits& limits_;
};

}  // namespace edge::resource_api
