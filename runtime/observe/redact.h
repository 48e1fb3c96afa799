// Query strings for logs and traces: the values of parameters that carry credentials are redacted.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace edge::runtime {

/// Returns whether a query parameter of this name, as written in the query, carries credentials: tokens, codes and
/// states of a login, keys, passwords, signatures of links.
bool names_credential(std::string_view name);

/// Returns the most bytes that the redacted text takes: `***` replaces values of one byte, too.
constexpr std::size_t most_redacted(std::size_t size) { return size + size / 2 + 3; }

/// Writes `query` (without its `?`) with `***` in place of such values, cut to the size of `into`. Bounded: everything
/// after the first 8 KiB is dropped.
/// \returns how much was written.
std::size_t write_redacted_query(std::string_view query, std::span<char> into);

/// Writes a URL with its query redacted, and without user information and fragment.
std::size_t write_redacted_url(std::string_view url, std::span<char> into);

}  // namespace edge::runtime
