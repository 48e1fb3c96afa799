// What a request with a session cookie passes through.
#pragma once

#include <functional>

namespace edge::bench {

/// One request with an OIDC session in its cookies, from the parsed head to the verdict; false when it does not pass.
/// `extra_groups` makes the session larger.
std::function<bool()> session_request(int extra_groups);

}  // namespace edge::bench
