// Labels, as Kubernetes has them: what an agent tells of itself and of its node, and what objects of the resource API
// carry.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace edge {

/// By key. Both keys and values are as the functions below have them.
using Labels = std::map<std::string, std::string, std::less<>>;

/// Of one agent.
inline constexpr std::size_t kMaxLabels = 64;

/// `[prefix/]name`: the prefix a domain name of at most 253, the name at most 63 letters, digits, `-`, `_` and `.`,
/// the latter three not at its ends.
bool is_label_key(std::string_view key);
/// As the name of a key, or empty.
bool is_label_value(std::string_view value);

/// Of texts `key=value`, of which a key stands once. kInvalidArgument: one is no label, or there are too many.
Result<Labels> parse_labels(const std::vector<std::string>& texts);
/// Whether all of `selector` are among `labels`.
bool selects(const Labels& selector, const Labels& labels);
/// `a=b,c=d`
std::string labels_text(const Labels& labels);

}  // namespace edge
