// Sets the priority of the calling thread: threads that serve traffic take precedence over those that observe it.
// Failures are ignored.
#pragma once

namespace edge {

/// Requests the shortest time slices from the scheduler, so that the thread need not wait for the end of another's
/// (Linux 6.12 and later; before, a thread that has slept is preferred anyway). Its share stays the same.
void raise_thread_priority();

/// Lowers the priority: next to a busy thread this one gets a tenth of the processor. With less, a busy machine could
/// not serve logins, checks or scrapes.
void lower_thread_priority();

}  // namespace edge
