// The flags that install, upgrade and uninstall share.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/flags.h"

namespace edge::edgectl {

/// --namespace, --dry-run, --timeout.
std::vector<cli::Flag> installation_flags();
/// --image-registry, --tag, --wait, --force-conflicts, --skip-checks, --output.
std::vector<cli::Flag> applying_flags(bool needs_registry);

/// `--timeout`; reports on stderr what is none.
std::optional<std::chrono::milliseconds> patience_of(std::string_view command, const cli::Arguments& arguments);

}  // namespace edge::edgectl
