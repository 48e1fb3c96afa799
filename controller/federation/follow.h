// How the API of a cluster and its federation state follow each other: which version a change in the API is, and what
// is to be done in the API. Without I/O; decision 0271.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "controller/federation/replica.h"

namespace edge::federation {

/// By object, the version that the API had when both were last alike. A change in the API replaces that version, not
/// whatever has come from others meanwhile.
using Applied = std::map<ObjectKey, VersionPtr>;

enum class ApiState : std::uint8_t {
  kGoesOn,
  kRestored,  ///< from a backup: its resource versions went back. What differs there is older, not newer.
};

struct FollowStep {
  enum class Kind : std::uint8_t { kNothing, kApply, kDelete } kind = Kind::kNothing;
  VersionPtr version{};   ///< to apply
  bool conflict = false;  ///< the change met another one: both are listed
};

/// Looks at one object. `content`: as content_of returns it; nullopt: the API has none. Writes a version for what
/// changed there. After a step that is not kNothing has been done, `follow` is called again with what the API then has.
Result<FollowStep> follow(Replica& replica, Applied& applied, const ObjectKey& key,
                          const std::optional<std::string>& content, ApiState api, std::int64_t now);

}  // namespace edge::federation
