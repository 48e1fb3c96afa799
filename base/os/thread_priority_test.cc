#include "base/os/thread_priority.h"

#include <sys/resource.h>

#include <algorithm>
#include <thread>

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

namespace edge {
namespace {

int nice_of_this_thread() { return ::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid())); }

TEST(Precedence, GivingWayIsOfTheThreadAlone) {
  const int before = nice_of_this_thread();
  int behind = before;
  std::thread([&] {
    lower_thread_priority();
    behind = nice_of_this_thread();
  }).join();
  EXPECT_EQ(behind, std::max(before, 10));
  EXPECT_EQ(nice_of_this_thread(), before);
}

// What turns a thread has the kernel tells only where it knows of them; what must not change can be seen everywhere.
TEST(Precedence, ServingPromptlyTakesNothingFromOthers) {
  const int before = nice_of_this_thread();
  std::thread([&] {
    raise_thread_priority();
    EXPECT_EQ(nice_of_this_thread(), before);
    EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER);
  }).join();
}

TEST(Precedence, AnOperatorsPolicyStays) {
  std::thread([] {
    const sched_param none{};
    ASSERT_EQ(::sched_setscheduler(0, SCHED_BATCH, &none), 0);
    raise_thread_priority();
    EXPECT_EQ(::sched_getscheduler(0), SCHED_BATCH);
  }).join();
}

}  // namespace
}  // namespace edge
