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

/// `value` as the field has it. Names and passwords with control bytes are refused (RFC 7617 §2), so that none ends
/// early.
CredentialsFault read_basic_credentials(std::string_view value, BasicCredentials& out);

}  // namespace edge::runtime::auth
