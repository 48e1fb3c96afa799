// Whether a disk takes anything more: what is started on a full one does what it can do without.
#pragma once

#include <string>

namespace edge {

/// Writes a megabyte into `directory`, with fsync, and removes it. Blocks.
bool has_space(const std::string& directory);

}  // namespace edge
