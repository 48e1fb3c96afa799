// Objects as they travel through the controller: compact JSON text, and beside it the little that is asked of every
// one. Lists are taken apart and watch frames read without ever building a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "controller/kube/failure.h"

namespace edge::kube {

struct Object {
  /// Compact, keys in the server's order, `apiVersion` and `kind` always there.
  std::string text;
  std::string name, name_space, uid, resource_version;
  std::int64_t generation = 0;
  /// Who wrote it last, and when (metadata.managedFields); empty where nobody says.
  std::string manager, managed_at;

  /// `namespace/name`, or `name` for what has no namespace.
  std::string key() const { return name_space.empty() ? name : name_space + "/" + name; }
};

struct ObjectReading {
  /// Given to objects without their own: servers leave them out in lists of built-in kinds.
  std::string api_version{}, kind{};
  /// metadata.managedFields stays in the text; it is mostly the larger half of an object.
  bool managed_fields = false;
};

struct List {
  std::string resource_version;
  /// Empty: this was the last page.
  std::string next;
  std::int64_t remaining = 0;
  std::vector<Object> items;
};

enum class EventType : std::uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };

struct WatchEvent {
  EventType type = EventType::kError;
  /// A bookmark's holds little more than its resourceVersion.
  Object object{};
  /// metadata.annotations has `k8s.io/initial-events-end: "true"`.
  bool initial_end = false;
  /// Of kError.
  Failure failure{};
};

/// What keeps a hostile text harmless; its size is bounded by who receives it.
inline constexpr std::size_t kMaxDepth = 96;

/// kInvalidArgument quotes nothing of the text.
Result<Object> read_object(std::string_view text, const ObjectReading& reading = {});
Result<List> read_list(std::string_view text, const ObjectReading& reading = {});
/// One frame of a watch. A type that is unknown is an error.
Result<WatchEvent> read_event(std::string_view text, const ObjectReading& reading = {});

}  // namespace edge::kube
