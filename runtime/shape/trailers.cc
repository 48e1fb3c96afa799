#include "runtime/shape/trailers.h"

#include <algorithm>

#include "base/field_name.h"
#include "net/http1/head.h"
#include "program/filters.h"
#include "runtime/observe/trace/trace_context.h"
#include "runtime/policy/request_edits.h"
#include "runtime/shape/response_rules.h"

namespace edge::runtime {

bool passes_as_request_trailer(const RequestTrailerRules& rules, std::string_view name) {
  if (rules.identity != nullptr && rules.identity->drops_trailers()) return false;
  const bool listed = std::ranges::any_of(rules.backends.array(rules.backend.trailers), [&](program::StringRef one) {
    return same_field(rules.backends.string(one), name);
  });
  if (!listed && (rules.backend.flags & program::kTakesTrailers) == 0) return false;
  const std::string folded = folded_field_name(name);
  if (net::http1::recognise_field(folded) != net::http1::KnownField::kOther || is_forwarded_field(folded)) return false;
  const program::FieldEdits edits(rules.section, rules.filters, program::Side::kRequest, {});
  if (edits.names(name)) return false;
  if (rules.identity != nullptr && rules.identity->drops(name)) return false;
  return !rules.traced || !trace::tells_of_trace(folded);
}

bool passes_as_response_trailer(const ResponseRules& rules, std::string_view name) {
  return !rules.edits().drops(name) && !rules.added.replaces(name);
}

}  // namespace edge::runtime
