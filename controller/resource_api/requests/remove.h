// delete and deletecollection: at once, or by marking the object until nothing holds it any more.
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

/// What becomes of the objects that name this one as their owner.
enum class Propagation : std::uint8_t { kUnset, kBackground, kForeground, kOrphan };

/// Deletes one object: it goes, or gets a deletionTimestamp where finalizers hold it. \returns the object that is left;
/// nullptr: it went.
ObjectPtr remove_object(Changes& changes, const Collection& collection, const Object& object, Propagation propagation);

class Remover {
 public:
  Remover(Changes& changes, const ApiLimits& limits) : changes_(changes), limits_(limits) {}

  /// 200 with a Status, or with the object that is still there. 404, 409 when a precondition does not hold.
  ApiReply remove(const Operation& op, const ApiRequest& request);
  /// 200 with the list of what was deleted.
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
