// Who has logged in to the dashboard, in the names of the resource API.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace edge::edgectl::web {

struct Identity {
  std::string user;
  std::vector<std::string> groups;  ///< ascending
  friend auto operator<=>(const Identity&, const Identity&) = default;
};

/// What a login says of a request.
struct LoggedIn {
  Identity identity;
  std::string session;     ///< the same after refreshes
  std::int64_t until = 0;  ///< seconds since 1970: streams end then, and are opened again with what was refreshed
};

}  // namespace edge::edgectl::web
