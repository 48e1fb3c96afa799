#include "compiler/translate/nginx_rewrite.h"

#include <algorithm>
#include <array>

namespace edge::compiler::translate {
namespace {

/// How an expression continues after its literal prefix, and which part of a target stands for that remainder.
struct Tail {
  std::string_view text;
  std::string_view groups;
  /// What the groups stand for begins with a slash, or is empty; else that slash is not in them, and the target has it.
  bool with_slash;
};

constexpr std::array kTails = {
    Tail{"(/|$)(.*)", "$1$2", true}, Tail{"(/|$)(.*)", "$2", false}, Tail{"(/.*)?", "$1", true},
    Tail{"(/.*)", "$1", true},       Tail{"/(.*)", "$1", false},     Tail{"/?(.*)", "$1", false},
    Tail{"(.*)", "$1", false},
};

constexpr std::string_view kSyntax = "()[]{}*+?|^$\\";

/// Bytes of a path that literal text of an expression matches: a dot stands for one, and so does what is escaped.
/// nullopt: it is more than literal text.
std::optional<std::uint32_t> literal_length(std::string_view text) {
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < text.size(); ++i, ++length) {
    if (text[i] == '\\') {
      // A letter or digit behind it is a class, a boundary or a group.
      if (++i == text.size() || kSyntax.find(text[i]) == std::string_view::npos) {
        if (i == text.size() || (text[i] != '.' && text[i] != '-' && text[i] != '/')) return std::nullopt;
      }
    } else if (kSyntax.find(text[i]) != std::string_view::npos || static_cast<unsigned char>(text[i]) >= 0x80) {
      return std::nullopt;
    }
  }
  return length;
}

/// The target less what stands for the rest of the path; nullopt: it says something else of it.
std::optional<std::string> moved_to(std::string_view target, const Tail& tail, bool literal_ends_in_slash) {
  if (!target.ends_with(tail.groups)) return std::nullopt;
  target.remove_suffix(tail.groups.size());
  if (target.find('$') != std::string_view::npos) return std::nullopt;
  if (tail.with_slash) return target.ends_with('/') ? std::nullopt : std::optional(std::string(target));
  // `/(.*)` to `/new$1` would join two names.
  const bool joins = !target.ends_with('/') && !(target.empty() && tail.text == "(.*)" && !literal_ends_in_slash);
  return joins ? std::nullopt : std::optional(std::string(target));
}

}  // namespace

std::optional<NginxRewrite> nginx_rewrite(std::string_view path, std::string_view target) {
  if (target.find('$') == std::string_view::npos) {
    if (!target.starts_with('/')) return std::nullopt;
    return NginxRewrite{.value = std::string(target)};
  }
  if (!target.starts_with('/') && !target.starts_with('$')) return std::nullopt;
  if (path.starts_with('^')) path.remove_prefix(1);
  if (path.ends_with("(.*)$") || path.ends_with("(/.*)$") || path.ends_with("(/.*)?$")) path.remove_suffix(1);
  for (const Tail& tail : kTails) {
    if (!path.ends_with(tail.text)) continue;
    std::string_view literal = path.substr(0, path.size() - tail.text.size());
    const bool slash = literal.ends_with('/');
    if (slash) literal.remove_suffix(1);
    const auto length = literal_length(literal);
    auto value = moved_to(target, tail, slash);
    if (!length || !value || (slash && tail.with_slash)) continue;
    return NginxRewrite{.prefix = true, .prefix_length = *length, .value = *std::move(value)};
  }
  return std::nullopt;
}

}  // namespace edge::compiler::translate
