// Query strings as they may be written down: the values of parameters that carry credentials are gone.
#pragma once

#include <string>
#include <string_view>

namespace edge::runtime {

/// Whether a query parameter of this name, as it stands in the query, carries what lets somebody in: tokens, codes and
/// states of a login, keys, passwords, signatures of links.
bool names_credential(std::string_view name);

/// `query` (without its `?`) with `***` in place of such values. Bounded: what is behind the first 8 KiB is left out.
void append_redacted_query(std::string_view query, std::string& out);

/// A URL with its query redacted, and without user information and fragment.
void append_redacted_url(std::string_view url, std::string& out);

}  // namespace edge::runtime
