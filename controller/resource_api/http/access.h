// Authorization. RBAC objects are stored and not evaluated: this API serves one machine, and has three kinds of users.
// Decision 0054.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controller/resource_api/api.h"

namespace edge::resource_api::http {

/// Members may read everything but secrets.
inline constexpr std::string_view kReadersGroup = "edge:readers";

/// The attributes of a request for authorization.
struct Attributes {
  std::string verb;  ///< get, list, watch, create, update, patch, delete, deletecollection; else the method, lower case
  std::string path;  ///< of a non-resource request; empty for a resource
  std::string group;
  std::string version;
  std::string name_space;
  std::string resource;
  std::string subresource;
  std::string name;
};

/// Returns the segments of a path, without empty ones. Valid as long as `path`.
std::vector<std::string_view> segments_of(std::string_view path);

using Query = std::vector<std::pair<std::string, std::string>>;

Attributes attributes_of(std::string_view method, std::string_view path, const Query& query);
/// Returns whether a user may do it. system:masters: everything. edge:readers: get, list and watch of all but secrets.
/// Every authenticated user: discovery, and access reviews.
bool allowed(const User& user, const Attributes& what);
bool is_in(const User& user, std::string_view group);

}  // namespace edge::resource_api::http
