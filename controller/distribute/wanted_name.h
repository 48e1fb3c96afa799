// A name that clients ask an agent for, as it reports it.
#pragma once

#include <string>

namespace edge::controller {

/// A name that clients ask for at a listener whose certificates are ordered on demand.
struct WantedName {
  std::string name_space;
  std::string secret;  ///< of the listener's certificates
  std::string host;    ///< canonical
  bool served = false;
  friend bool operator==(const WantedName&, const WantedName&) = default;
};

}  // namespace edge::controller
