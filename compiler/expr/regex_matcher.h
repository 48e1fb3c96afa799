// The portable pattern engine: RE2, on bytes. Used by the proof, `explain` and tests; agents use Hyperscan.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace edge::compiler::expr {

/// Returns why RE2 rejects a canonical pattern; nullopt when it accepts it.
std::optional<std::string> re2_refusal(std::string_view pattern);

/// Returns a program::RegexMatcher that caches compiled patterns, up to some thousand. An invalid pattern never
/// matches. Copies share the cache; not thread-safe.
std::function<bool(std::string_view pattern, std::string_view subject)> regex_matcher();

}  // namespace edge::compiler::expr
