// Paths of session cookies: for which requests the browser sends them.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/model/route.h"

namespace edge::compiler::model {

bool is_cookie_path(std::string_view path) {
  return path.starts_with('/') && path.size() <= 1024 &&
         std::ranges::all_of(path, [](char c) { return c > ' ' && c < 127 && c != ';'; });
}

std::string cookie_path(const SessionPersistence& session, const Rule& rule) {
  if (session.path) return session.path->value;
  std::optional<std::string> common;
  for (const Match& match : rule.matches) {
    if (!match.path || match.path->type == PathType::kRegex) return "/";
    std::string path = match.path->value.value;
    if (path.size() > 1 && path.ends_with('/')) path.pop_back();
    if (!common) {
      common = path;
      continue;
    }
    while (*common != path && !(path.starts_with(*common) && path[common->size()] == '/')) {
      const std::size_t slash = common->rfind('/');
      if (slash == 0 || slash == std::string::npos) return "/";
      common->resize(slash);
    }
  }
  return common && is_cookie_path(*common) ? *common : "/";
}

}  // namespace edge::compiler::model
