// Which fields of a trailer section go on. A request's trailer is read too late for the policies and
// filters that look at a head, and many backends read one as if it had stood there: only what the backend asks for
// passes, and never what something on the way decides (*safe*).
#pragma once

#include <span>
#include <string_view>

#include "program/format/format.h"
#include "program/read.h"

namespace edge::runtime {

class RequestEdits;
struct ResponseRules;

/// What decides over the trailer of one request.
struct RequestTrailerRules {
  /// Of the program that decided the request, and the section that it stands in.
  const program::BackendRecord& backend;
  const program::SectionView& backends;
  const program::SectionView& section;
  std::span<const program::FilterRecord> filters;
  /// What authentication says of the client; null: nothing.
  const RequestEdits* identity = nullptr;
  bool traced = false;
};

/// Whether a field of this name passes: the backend takes it, and neither a filter nor a policy of the request names it
/// in any spelling, nor is it read as a field that means something before the body.
bool passes_as_request_trailer(const RequestTrailerRules& rules, std::string_view name);

/// The same for what the backend sends behind a response: all but what a filter or a policy removes or sets in its
/// head.
bool passes_as_response_trailer(const ResponseRules& rules, std::string_view name);

}  // namespace edge::runtime
