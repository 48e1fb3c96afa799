// `rewrite-target` of ingress-nginx: a path with the capture groups of the rule's path pattern. The usual forms replace
// a prefix, which a program can do; others are rejected.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace edge::compiler::translate {

struct NginxRewrite {
  /// Whether `value` replaces the first `prefix_length` bytes; else the whole path.
  bool prefix = false;
  std::uint32_t prefix_length = 0;
  std::string value;
};

/// `path` is the pattern as written. Supported are literal text (`/api`, `/v1\.0`) with one of the suffixes
/// `(/|$)(.*)`, `/(.*)`, `/?(.*)`, `(/.*)`, `(/.*)?` and `(.*)`, and a target that ends in what follows the literal
/// text; and targets without groups. nullopt: another form.
std::optional<NginxRewrite> nginx_rewrite(std::string_view path, std::string_view target);

}  // namespace edge::compiler::translate
