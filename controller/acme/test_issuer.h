// Issues certificates for requests (PKCS#10), for tests of those who order them.
#pragma once

#include <string>

namespace edge::controller::acme {

/// Returns a chain in PEM for the key of `request` (DER), valid for 90 days.
std::string issue(const std::string& request, const std::string& host);
std::string issue_for_other_key(const std::string& host);

}  // namespace edge::controller::acme
