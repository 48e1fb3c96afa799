// Version information, the same in every program: version, commit, and the versions of its formats.
#pragma once

#include <string>
#include <string_view>

namespace edge::program {

/// Returns the commit of the build, `unknown` without a git checkout.
std::string_view commit();

/// Returns the lines for `--version`: `edge-agent 0.1.0 (commit 4f2a91c07b3d)`, then formats and the API group.
std::string version_text(std::string_view program);

}  // namespace edge::program
