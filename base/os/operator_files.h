// Files by which an operator controls a daemon on its machine, shared by edgectl and the daemons.
#pragma once

#include <cstddef>
#include <string_view>

namespace edge {

/// In the directory of an authority: requests new administrator credentials. The daemon removes it when done.
inline constexpr std::string_view kReplaceAdministratorFile = "replace-administrator";

/// The prefix of tokens of admin ports, so that no other file is mistaken for one.
inline constexpr std::string_view kAdminTokenPrefix = "edge-admin-";
inline constexpr std::size_t kMaxAdminTokenBytes = 128;
/// The parameter of WWW-Authenticate that names the token's file.
inline constexpr std::string_view kAdminTokenParameter = "token_file=\"";

}  // namespace edge
