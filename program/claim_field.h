// Names of the fields by which rules match claims of verified tokens (docs/decisions/0531).
//
// A condition on a claim is one on a field of the request whose name no client can send: it begins with a colon and has
// a blank in it, so that it is neither a token (RFC 9110 §5.6.2) nor a pseudo-header field that is known (RFC 9113
// §8.3). The runtime adds such fields to what it matches, from a token that it has verified, and to nothing else.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace edge::program {

/// The field whose value is a claim's text. Field names are compared without regard to case and names of claims with
/// it, so capital letters are escaped.
std::string claim_field(std::string_view claim);
/// The field, without a value, that stands for a claim that has `item` in it.
std::string claim_item_field(std::string_view claim, std::string_view item);

constexpr bool is_claim_field(std::string_view name) { return name.starts_with(':'); }

/// What a field of that kind stands for.
struct ClaimField {
  std::string claim;
  std::optional<std::string> item;  ///< of claim_item_field
};
/// nullopt: `name` is not one of theirs.
std::optional<ClaimField> read_claim_field(std::string_view name);

/// Returns the fields that match a token with these claims, by name and value: for tools, which have no token. A claim
/// that occurs again is a list.
std::vector<std::pair<std::string, std::string>> claim_fields(
    std::span<const std::pair<std::string, std::string>> claims);

/// The inverse: takes such fields out of `fields`. A claim with elements that its text
/// alone does not have is a list of them.
std::vector<std::pair<std::string, std::string>> take_claims(std::vector<std::pair<std::string, std::string>>& fields);

/// Returns `header:x-env`, `claim:plan` or `claim:roles contains "admin"`: a header's name as expressions write it
/// (rule D5).
std::string field_text(std::string_view name);

}  // namespace edge::program
