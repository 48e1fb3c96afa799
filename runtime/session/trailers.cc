#include "runtime/session/trailers.h"

#include <algorithm>

#include "base/field_name.h"
#include "net/http1/head.h"
#include "program/filters.h"
#include "runtime/observe/trace/trace_context.h"
#include "runtime/session/exchange.h"

namespace edge::runtime {

bool passes_as_request_trailer(const Exchange& exchange, std::string_view name) {
  // Of the program that decided the request: the pool may be of a later one already.
  const LoadedProgram& program = *exchange.program->program;
  const std::uint32_t index = program.backend_index(exchange.pool->settings().id);
  if (index == program::kNone) return false;
  const program::BackendRecord& backend = program.backends()[index];
  const program::SectionView& section = program.backends_section();
  const bool listed = std::ranges::any_of(
      section.array(backend.trailers), [&](program::StringRef one) { return same_field(section.string(one), name); });
  if (!listed && (backend.flags & program::kTakesTrailers) == 0) return false;
  const std::string folded = folded_field_name(name);
  if (net::http1::recognise_field(folded) != net::http1::KnownField::kOther) return false;
  const program::FieldEdits edits(exchange.host->view, exchange.filters(), program::Side::kRequest, {});
  if (edits.names(name)) return false;
  if (exchange.identity != nullptr && exchange.identity->edits.drops(name)) return false;
  return exchange.trace == nullptr || !trace::tells_of_trace(folded);
}

bool passes_as_response_trailer(const Exchange& exchange, std::string_view name) {
  const program::FieldEdits edits(exchange.host->view, exchange.filters(), program::Side::kResponse, {});
  return !edits.drops(name) && !exchange.added.replaces(name);
}

}  // namespace edge::runtime
