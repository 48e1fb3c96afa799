// What a build says of itself, alike in every program: its version, its commit, and the versions of what it writes.
#pragma once

#include <string>
#include <string_view>

namespace edge::program {

/// The commit that the build was made of, `unknown` where that was no git checkout.
std::string_view commit();

/// Lines for `--version`: `edge-agent 0.1.0 (commit 4f2a91c07b3d)`, then formats and the API group.
std::string version_text(std::string_view program);

}  // namespace edge::program
