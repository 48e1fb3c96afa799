// Characters beyond U+FFFF in JSON: two escapes of UTF-16 (RFC 8259 §7), which YAML does not support.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace edge::compiler::yaml {

/// Returns a JSON text with each such pair as a YAML escape. Every byte keeps its offset: `\ud83d\ude00` becomes an
/// escaped line end, which is empty, and `\U0001f600`. nullopt: there is no pair, or the text is not JSON.
std::optional<std::string> join_surrogates(std::string_view text);

}  // namespace edge::compiler::yaml
