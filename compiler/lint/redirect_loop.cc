#include "compiler/lint/redirect_loop.h"

#include <algorithm>
#include <string_view>

namespace edge::compiler::lint {
namespace {

using model::Filter;
using model::Match;
using model::PathType;
using model::Rule;

std::string_view without_slash(std::string_view prefix) {
  return prefix.size() > 1 && prefix.ends_with('/') ? prefix.substr(0, prefix.size() - 1) : prefix;
}

/// The precedence of rules by path: exact before the longest prefix; patterns are not compared here.
struct Specificity {
  bool exact = false;
  std::size_t length = 0;
  friend auto operator<=>(const Specificity&, const Specificity&) = default;
};

std::optional<Specificity> takes(const Match& match, std::string_view path) {
  if (!match.path) return Specificity{};
  const std::string_view value = match.path->value.value;
  if (match.path->type == PathType::kExact) {
    return value == path ? std::optional(Specificity{true, value.size()}) : std::nullopt;
  }
  if (match.path->type == PathType::kRegex) return std::nullopt;
  const std::string_view prefix = without_slash(value);
  const bool below =
      prefix == "/" || (path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/'));
  return below ? std::optional(Specificity{false, prefix.size()}) : std::nullopt;
}

bool only_path(const Match& match) {
  return match.headers.empty() && match.query.empty() && match.claims.empty() && !match.method;
}

/// The path that the redirect names for a request to the match's own path.
std::optional<std::string> target_of(const Match& match, const Filter& redirect) {
  const std::string own(match.path ? without_slash(match.path->value.value) : "/");
  if (match.path && match.path->type == PathType::kRegex) return std::nullopt;
  if (!redirect.path) return own;
  if (redirect.path->type == model::PathChangeType::kFull) return redirect.path->value.value;
  // The prefix is replaced as a whole; what follows it is the same on both sides, so the bare one stands for all.
  return std::string(without_slash(redirect.path->value.value));
}

bool elsewhere(const Filter& redirect) { return redirect.hostname || redirect.scheme || redirect.port; }

/// Patterns of ProxyRoutes come behind every prefix; those of translated routes may come before (decision 81).
bool may_come_before(const model::ProxyRoute& route, const Match& pattern, Specificity own) {
  if (route.metadata.kind == "ProxyRoute" || own.exact) return false;
  return pattern.path && pattern.path->type == PathType::kRegex;
}

/// Whether another match of the route may take `path` before one of `own` specificity does.
bool taken_by_another(const model::ProxyRoute& route, std::size_t index, std::string_view path, Specificity own) {
  for (std::size_t i = 0; i < route.rules.size(); ++i) {
    if (i == index) continue;
    const bool before = std::ranges::any_of(route.rules[i].matches, [&](const Match& match) {
      if (may_come_before(route, match, own)) return true;
      const auto other = takes(match, path);
      return other && (*other > own || (*other == own && (i < index || !only_path(match))));
    });
    if (before) return true;
  }
  return false;
}

}  // namespace

std::optional<RedirectLoop> find_redirect_loop(const model::ProxyRoute& route, std::size_t index) {
  const Rule& rule = route.rules[index];
  const auto redirect = std::ranges::find(rule.filters, model::FilterType::kRedirect, &Filter::type);
  if (redirect == rule.filters.end() || elsewhere(*redirect) || route.expression) return std::nullopt;
  const Match everything{};
  const auto loops = [&](const Match& from) -> std::optional<RedirectLoop> {
    const auto target = target_of(from, *redirect);
    if (!target) return std::nullopt;
    const auto again = takes(from, *target);
    if (!again || !only_path(from) || taken_by_another(route, index, *target, *again)) return std::nullopt;
    return RedirectLoop{redirect->span, from.span, *target};
  };
  if (rule.matches.empty()) return loops(everything);
  for (const Match& match : rule.matches) {
    if (auto loop = loops(match)) return loop;
  }
  return std::nullopt;
}

}  // namespace edge::compiler::lint
