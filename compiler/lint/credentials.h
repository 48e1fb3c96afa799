// Which header fields carry what lets somebody in.
#pragma once

#include <string_view>

namespace edge::compiler::lint {

/// By name, in any case: Authorization, Cookie and what APIs use for keys and tokens.
bool carries_credential(std::string_view header);

}  // namespace edge::compiler::lint
