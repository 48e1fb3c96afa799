// Files by which whoever runs a daemon speaks to it on its machine: what edgectl and the daemons must agree on.
#pragma once

#include <cstddef>
#include <string_view>

namespace edge {

/// In the directory of an authority: its administrator's credentials are to be replaced. The daemon takes it away when
/// that is done.
inline constexpr std::string_view kReplaceAdministratorFile = "replace-administrator";

/// What a token of an admin port begins with: nobody takes another file for one.
inline constexpr std::string_view kAdminTokenPrefix = "edge-admin-";
inline constexpr std::size_t kMaxAdminTokenBytes = 128;
/// The parameter of WWW-Authenticate that says which file the token is in.
inline constexpr std::string_view kAdminTokenParameter = "token_file=\"";

}  // namespace edge
