// Which threads of a process go first where they share a processor: those that serve traffic, before those that watch
// over it. Each is said by the thread itself; a kernel or an operator that has it otherwise is no fault.
#pragma once

namespace edge {

/// The calling thread serves: it wants the processor soon, and not for long. Asks for the shortest turns there are, so
/// that it need not wait for the end of another's (Linux 6.12 and later; before, whoever has slept goes first anyway).
/// Its share stays what it was.
void raise_thread_priority();

/// The calling thread gives way to those that serve: beside one that never rests it has a tenth of the processor. Lower
/// still, nobody could log in to, check or scrape a machine that is busy.
void lower_thread_priority();

}  // namespace edge
