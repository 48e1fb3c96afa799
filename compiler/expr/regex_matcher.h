// The portable engine for patterns: RE2, on bytes. What the proof, `explain` and the tests match with; agents use
// Hyperscan.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace edge::compiler::expr {

/// Why RE2 refuses a canonical pattern; nullopt when it takes it.
std::optional<std::string> re2_refusal(std::string_view pattern);

/// A program::RegexMatcher that keeps what it compiled, up to some thousand patterns. A pattern that cannot be compiled
/// is found nowhere. Copies share the store; not thread-safe.
std::function<bool(std::string_view pattern, std::string_view subject)> regex_matcher();

}  // namespace edge::compiler::expr
