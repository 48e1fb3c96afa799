// What an edit costs, from the YAML of one resource to a signed program, with very many others present.
#pragma once

#include "bench/compile/configuration.h"
#include "bench/compile/report.h"

namespace edge::bench {

/// Runs `edits_and_tell` in a process of its own, as this one's memory is full of other things.
void measure_edits_of_documents(Report& report, const Shape& shape);

/// The other side of it: prints a line a figure. \returns the exit code.
int edits_and_tell(const Shape& shape);

}  // namespace edge::bench
