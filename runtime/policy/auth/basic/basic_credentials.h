// The Authorization field of Basic (RFC 7617).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edge::runtime::auth {

struct BasicCredentials {
  std::string user;
  std::string password;
};

enum class CredentialsFault { kNone, kOtherScheme, kMalformed };

/// Parses the credentials; `value` as in the field. Rejects names and passwords with control characters (RFC 7617 §2),
/// so that none is cut off at one.
CredentialsFault read_basic_credentials(std::string_view value, BasicCredentials& out);

}  // namespace edge::runtime::auth
