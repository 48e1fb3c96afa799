// Which trailer fields are forwarded. Policies and filters that inspect a head have run before a request's trailer
// arrives, and many backends treat its fields as if they had been in the head: only fields that the backend asks for
// pass, and never those that the proxy decides by (*safe*).
#pragma once

#include <span>
#include <string_view>

#include "program/format/format.h"
#include "program/read.h"

namespace edge::runtime {

class RequestEdits;
struct ResponseRules;

/// What determines the trailer fields of one request that pass.
struct RequestTrailerRules {
  /// The backend and its section in the program that matched the request.
  const program::BackendRecord& backend;
  const program::SectionView& backends;
  const program::SectionView& section;
  std::span<const program::FilterRecord> filters;
  /// Edits from authentication; null: none.
  const RequestEdits* identity = nullptr;
  bool traced = false;
};

/// Returns whether a request trailer field passes: the backend accepts it, no filter or policy of the request names it
/// in any spelling, and it has no meaning that must be known before the body.
bool passes_as_request_trailer(const RequestTrailerRules& rules, std::string_view name);

/// The same for a backend's response trailer: every field passes but those that a filter or a policy removes or sets in
/// the head.
bool passes_as_response_trailer(const ResponseRules& rules, std::string_view name);

}  // namespace edge::runtime
