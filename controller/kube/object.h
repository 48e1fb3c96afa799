// Objects in the controller: compact JSON text, with the few fields that are needed of all. Lists and watch frames are
// split without building a tree.
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
  /// Compact, keys in the server's order, always with `apiVersion` and `kind`.
  std::string text;
  std::string name, name_space, uid, resource_version;
  std::int64_t generation = 0;
  /// The last writer, and the time (metadata.managedFields); empty where unknown.
  std::string manager, managed_at;

  /// Returns `namespace/name`, or `name` for cluster-scoped objects.
  std::string key() const { return name_space.empty() ? name : name_space + "/" + name; }
};

struct ObjectReading {
  /// Added to objects without their own: servers omit them in lists of built-in kinds.
  std::string api_version{}, kind{};
  /// Keep metadata.managedFields in the text; they are often the larger half of an object.
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
  /// A bookmark has little more than its resourceVersion.
  Object object{};
  /// metadata.annotations has `k8s.io/initial-events-end: "true"`.
  bool initial_end = false;
  /// For kError.
  Failure failure{};
};

/// Nesting limit for untrusted text; its size is limited by the receiver.
inline constexpr std::size_t kMaxDepth = 96;

/// kInvalidArgument quotes nothing of the text.
Result<Object> read_object(std::string_view text, const ObjectReading& reading = {});
Result<List> read_list(std::string_view text, const ObjectReading& reading = {});
/// Parses one frame of a watch. An unknown type is an error.
Result<WatchEvent> read_event(std::string_view text, const ObjectReading& reading = {});

}  // namespace edge::kube
