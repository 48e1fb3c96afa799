// Removes confidential values from objects, for support archives.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace edge::edgectl {

/// Replaces a removed value.
inline constexpr const char* kRedacted = "<redacted>";

/// Removes all data of secrets, copies of the object in annotations, managed fields, the values of fields named like
/// passwords, tokens and keys, and of header fields that carry credentials. \returns how many values were removed from
/// the spec, which programs may contain too.
std::size_t redact(nlohmann::json& object);

/// Replaces what stands before the `@` of URLs within a text: `https://user:password@host/`. \returns how many.
std::size_t redact_user_information(std::string& text);

/// Returns whether values of header fields of this name let somebody in.
bool carries_credential(std::string_view header);

/// Replaces values of such header fields, cookies and parameters in what explanations say of conditions and filters:
/// `header:authorization == "…"`, `set request header cookie: …`.
std::string redact_sentence(std::string text);
/// Applies redact_sentence to every text but those of the explained request itself.
void redact_explanation(nlohmann::ordered_json& explanation);

}  // namespace edge::edgectl
