// Labels as in Kubernetes: of agents and their nodes, and of objects of the resource API.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace edge {

/// By key. Keys and values are valid by the functions below.
using Labels = std::map<std::string, std::string, std::less<>>;

/// Per agent.
inline constexpr std::size_t kMaxLabels = 64;

/// Returns whether a text is `[prefix/]name`: the prefix a domain name of at most 253, the name at most 63 letters,
/// digits, `-`, `_` and `.`, the latter three not at its ends.
bool is_label_key(std::string_view key);
/// Like the name of a key, or empty.
bool is_label_value(std::string_view value);

/// Parses texts `key=value` with unique keys. kInvalidArgument: one is not a label, or there are too many.
Result<Labels> parse_labels(const std::vector<std::string>& texts);
/// Whether all of `selector` are among `labels`.
bool selects(const Labels& selector, const Labels& labels);
/// `a=b,c=d`
std::string labels_text(const Labels& labels);

}  // namespace edge
