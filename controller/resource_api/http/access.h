// Who may do what. RBAC objects are kept and not obeyed: this API is of one machine, and knows three kinds of users.
// Decision 0054.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/resource_api/api.h"

namespace edge::resource_api::http {

/// May read everything but secrets.
inline constexpr std::string_view kReadersGroup = "edge:readers";

/// A request as authorization sees it.
struct Attributes {
  std::string verb;  ///< get, list, watch, create, update, patch, delete, deletecollection; else the method, lower case
  std::string path;  ///< of what is no resource; empty: it is one
  std::string group;
  std::string version;
  std::string name_space;
  std::string resource;
  std::string subresource;
  std::string name;
};

/// The parts of a path between its slashes; empty ones are passed over. Valid as long as `path`.
std::vector<std::string_view> segments_of(std::string_view path);

using Query = std::vector<std::pair<std::string, std::string>>;

Attributes attributes_of(std::string_view method, std::string_view path, const Query& query);
/// system:masters: everything. edge:readers: get, list and watch of all but secrets. Whoever is known: discovery, and
/// to ask what it may do.
bool allowed(const User& user, const Attributes& what);
bool is_in(const User& user, std::string_view group);

}  // namespace edge::resource_api::http
