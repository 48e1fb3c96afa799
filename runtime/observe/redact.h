// Query strings as they may be written down: the values of parameters that carry credentials are gone.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace edge::runtime {

/// Whether a query parameter of this name, as it stands in the query, carries what lets somebody in: tokens, codes and
/// states of a login, keys, passwords, signatures of links.
bool names_credential(std::string_view name);

/// Bytes that what is redacted takes at most: `***` stands for a value of one byte, too.
constexpr std::size_t most_redacted(std::size_t size) { return size + size / 2 + 3; }

/// `query` (without its `?`) with `***` in place of such values, cut to what `into` takes. Bounded: what is behind the
/// first 8 KiB is left out.
/// \returns how much was written.
std::size_t write_redacted_query(std::string_view query, std::span<char> into);

/// A URL with its query redacted, and without user information and fragment.
std::size_t write_redacted_url(std::string_view url, std::span<char> into);

}  // namespace edge::runtime
