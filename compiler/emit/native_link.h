// Links one relocatable object into a shared object, in this process.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "program/format/format.h"

namespace edge::compiler::emit {

/// Returns a shared object without dependencies or a build id, which exports only what the object exports. Calls are
/// serialised: lld has global state. kInternal with lld's message.
Result<std::vector<std::byte>> link_shared(program::Target target, std::span<const std::byte> object);

}  // namespace edge::compiler::emit
