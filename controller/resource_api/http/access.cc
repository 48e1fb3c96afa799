#include "controller/resource_api/http/access.h"

#include <algorithm>
#include <array>

#include "base/text/ascii.h"
#include "controller/resource_api/http/credentials.h"

namespace edge::resource_api::http {
namespace {

std::string verb_of(std::string_view method, bool named, const Query& query) {
  if (method == "GET" || method == "HEAD") {
    if (named) return "get";
    const auto watch = std::ranges::find(query, "watch", &Query::value_type::first);
    const bool watches = watch != query.end() && watch->second != "false" && watch->second != "0";
    return watches ? "watch" : "list";
  }
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  if (method == "DELETE") return named ? "delete" : "deletecollection";
  return ascii_lower(method);
}

bool reads(std::string_view verb) { return verb == "get" || verb == "list" || verb == "watch"; }

/// What every client asks before it asks for anything.
bool is_public_path(std::string_view path) {
  static constexpr std::array<std::string_view, 10> kPaths = {
      "/", "/api", "/apis", "/healthz", "/livez", "/readyz", "/version", "/openapi/v2", "/openapi/v3", "/version/"};
  return std::ranges::find(kPaths, path) != kPaths.end() || path.starts_with("/api/") || path.starts_with("/apis/") ||
         path.starts_with("/openapi/v3/") || path.starts_with("/livez/") || path.starts_with("/readyz/") ||
         path.starts_with("/healthz/");
}

bool asks_of_itself(const Attributes& what) {
  const bool group = what.group == "authorization.k8s.io" || what.group == "authentication.k8s.io";
  return group && what.verb == "create" && what.resource.starts_with("selfsubject");
}

}  // namespace

std::vector<std::string_view> segments_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end != 0) parts.push_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

Attributes attributes_of(std::string_view method, std::string_view path, const Query& query) {
  const std::vector<std::string_view> parts = segments_of(path);
  Attributes what;
  std::size_t at = 0;
  const bool core = !parts.empty() && parts[0] == "api";
  if (core && parts.size() > 2) {
    what.version = parts[1];
    at = 2;
  } else if (!parts.empty() && parts[0] == "apis" && parts.size() > 3) {
    what.group = parts[1];
    what.version = parts[2];
    at = 3;
  } else {
    what.path = path.empty() ? "/" : std::string(path);
    what.verb = ascii_lower(method);
    return what;
  }
  // `namespaces/x` is a namespace itself, `namespaces/x/pods` what is in it, `namespaces/x/status` a part of it.
  const bool in_namespace = core ? parts.size() > at + 2 && parts[at] == "namespaces" && parts[at + 2] != "status" &&
                                       parts[at + 2] != "finalize"
                                 : parts.size() > at + 2 && parts[at] == "namespaces";
  if (in_namespace) {
    what.name_space = parts[at + 1];
    at += 2;
  }
  const auto part = [&](std::size_t i) { return i < parts.size() ? std::string(parts[i]) : std::string(); };
  what.resource = part(at);
  what.name = part(at + 1);
  what.subresource = part(at + 2);
  if (core && what.resource == "namespaces") what.name_space = what.name;
  what.verb = verb_of(method, !what.name.empty(), query);
  return what;
}

bool is_in(const User& user, std::string_view group) {
  return std::ranges::find(user.groups, group) != user.groups.end();
}

bool may_everything(const User& user) { return is_in(user, kMastersGroup) || is_in(user, kAdminsGroup); }

bool reads_namespace(const User& user, std::string_view name_space) {
  return is_in(user, kReadersGroup) || is_in(user, std::string(kReadersOfPrefix).append(name_space));
}

bool allowed(const User& user, const Attributes& what) {
  if (may_everything(user)) return true;
  if (!is_in(user, kAuthenticatedGroup)) return false;
  if (!what.path.empty()) return reads(what.verb) && is_public_path(what.path);
  if (asks_of_itself(what)) return true;
  const bool secret = what.group.empty() && what.resource == "secrets";
  const bool reader = what.name_space.empty() ? is_in(user, kReadersGroup) : reads_namespace(user, what.name_space);
  return reader && reads(what.verb) && !secret;
}

}  // namespace edge::resource_api::http
