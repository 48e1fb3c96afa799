// The last valid texts of resources that are invalid now, which are compiled in their place. Stored on disk, so that a
// restart serves the same as before.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::controller {

struct SoundVersion {
  std::string uid;  ///< of the object: one that was deleted and created anew has no earlier version
  std::int64_t generation = 0;
  std::string document;
  friend bool operator==(const SoundVersion&, const SoundVersion&) = default;
};

/// By ResourceId::text().
using SoundVersions = std::map<std::string, SoundVersion>;

std::string write_sound_versions(const SoundVersions& versions);
Result<SoundVersions> read_sound_versions(std::string_view json);

}  // namespace edge::controller
