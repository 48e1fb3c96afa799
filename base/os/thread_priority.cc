#include "base/os/thread_priority.h"

#include <sys/resource.h>
#include <sys/syscall.h>

#include <cstdint>

#include <sched.h>
#include <unistd.h>

namespace edge {
namespace {

/// Argument of sched_setattr(2), in its first version; the C library of Debian 12 declares neither.
struct SchedulingAttributes {
  std::uint32_t size = sizeof(SchedulingAttributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  ///< nanoseconds of a turn
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};
static_assert(sizeof(SchedulingAttributes) == 48);

/// The least that the kernel gives.
constexpr std::uint64_t kShortTurn = 100'000;
/// nice(1), which on Linux is a thread's own.
constexpr int kBehind = 10;

id_t this_thread() { return static_cast<id_t>(::gettid()); }

}  // namespace

void raise_thread_priority() {
  // Whoever gave this process a policy of another kind knows why.
  if (::sched_getscheduler(0) != SCHED_OTHER) return;
  SchedulingAttributes wanted;
  wanted.nice = ::getpriority(PRIO_PROCESS, this_thread());
  wanted.runtime = kShortTurn;
  (void)::syscall(SYS_sched_setattr, 0, &wanted, 0);
}

void lower_thread_priority() {
  if (::getpriority(PRIO_PROCESS, this_thread()) >= kBehind) return;
  (void)::setpriority(PRIO_PROCESS, this_thread(), kBehind);
}

}  // namespace edge
