// The identity of an installation: the key that programs are signed with, the authority of agents, and the files that
// agents and administrators join and ask with. It is made once and kept in a Secret, since the controller's own disk
// ends with its pod.
#pragma once

#include <string>

#include "base/result.h"
#include "controller/operator/render/render.h"

namespace edge::cluster_operator {

/// Makes what `known` lacks, and renews what is due of it. Writes to a folder of its own below TMPDIR, or /tmp, and
/// removes it. `controller`: `HOST:PORT`, for the administrator's file. Blocks for some milliseconds.
Result<Identity> make_identity(const Identity& known, const std::string& controller);

}  // namespace edge::cluster_operator
