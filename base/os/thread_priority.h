// Sets the priority of the calling thread: those that serve traffic run before those that observe it. A kernel or an
// operator that has it otherwise is no fault.
#pragma once

namespace edge {

/// Asks the scheduler for the shortest time slices, so that the thread need not wait for the end of another's (Linux
/// 6.12 and later; before, a thread that has slept is preferred anyway). Its share stays the same.
void raise_thread_priority();

/// Lowers the priority: beside a thread that never rests, this one has a tenth of the processor. Lower still, nobody
/// could log in to, check or scrape a busy machine.
void lower_thread_priority();

}  // namespace edge
