// Authorization. RBAC objects are stored and not evaluated: this API serves one machine, and has few kinds of users.
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
/// Followed by a namespace: members may read everything in it but secrets.
inline constexpr std::string_view kReadersOfPrefix = "edge:readers:";
/// As system:masters, for users whose groups come from elsewhere: there names that begin with `system:` count for
/// nothing.
inline constexpr std::string_view kAdminsGroup = "edge:admins";

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
/// Returns whether a user may do it. system:masters and edge:admins: everything. edge:readers: get, list and watch
/// of all but secrets; edge:readers:NAMESPACE: the same of one namespace. Every authenticated user: discovery, and
/// access reviews.
bool allowed(const User& user, const Attributes& what);
bool is_in(const User& user, std::string_view group);
/// Whether a user may do everything.
bool may_everything(const User& user);
/// Whether a user may read what is in a namespace. Not for an empty one.
bool reads_namespace(const User& user, std::string_view name_space);

}  // namespace edge::resource_api::http
