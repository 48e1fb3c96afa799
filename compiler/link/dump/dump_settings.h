// Formats the settings of gateways, listeners, backends and policies as lines of the dump, without indentation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/link/linked_config.h"

namespace edge::compiler::link {

std::vector<std::string> settings_lines(const LinkedGateway& gateway);
std::vector<std::string> settings_lines(const LinkedListener& listener);
std::vector<std::string> settings_lines(const LinkedBackend& backend);
std::vector<std::string> settings_lines(const LinkedPolicy& policy);

/// Quotes a text; escapes control bytes, quotes and backslashes.
std::string quote(std::string_view text);

}  // namespace edge::compiler::link
