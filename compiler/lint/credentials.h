// Recognises header fields that carry credentials.
#pragma once

#include <string_view>

namespace edge::compiler::lint {

/// By name, case-insensitive: Authorization, Cookie and common names of API keys and tokens.
bool carries_credential(std::string_view header);

}  // namespace edge::compiler::lint
