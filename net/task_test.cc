#include "net/task.h"

#include <coroutine>
#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace edge::net {
namespace {

/// Suspends whoever awaits it until `open`.
struct Gate {
  std::coroutine_handle<> waiter{};
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) noexcept { waiter = handle; }
  void await_resume() const noexcept {}
  void open() { std::exchange(waiter, {}).resume(); }
};

Task<int> ready(int value) { return value; }

Task<int> behind(Gate& gate, int value) {
  co_await gate;
  co_return value;
}

Task<std::string> join(Gate& gate) {
  const int one = co_await ready(1);
  const int two = co_await behind(gate, 2);
  co_return std::to_string(one) + std::to_string(two);
}

Task<void> count_down(Gate& gate, int from, int& steps) {
  for (int i = 0; i < from; ++i) {
    co_await gate;
    ++steps;
  }
}

Detached store(Task<std::string> task, std::string& out) { out = co_await std::move(task); }

Detached finish(Gate& gate, int& steps, bool& done) {
  co_await count_down(gate, 3, steps);
  done = true;
}

Task<std::unique_ptr<int>> movable() { co_return std::make_unique<int>(7); }

Detached take(int& out) {
  const std::unique_ptr<int> value = co_await movable();
  out = *value;
}

Detached loop_of_ready_values(int rounds, long& sum) {
  for (int i = 0; i < rounds; ++i) {
    const int value = co_await ready(i);
    sum += value;
  }
}

TEST(Task, StartsAtOnceAndResumesItsWaiter) {
  Gate gate;
  std::string out;
  store(join(gate), out);
  EXPECT_EQ(out, "");
  gate.open();
  EXPECT_EQ(out, "12");
}

TEST(Task, VoidTaskSuspendsSeveralTimes) {
  Gate gate;
  int steps = 0;
  bool done = false;
  finish(gate, steps, done);
  for (int i = 1; i <= 3; ++i) {
    EXPECT_FALSE(done);
    gate.open();
    EXPECT_EQ(steps, i);
  }
  EXPECT_TRUE(done);
}

TEST(Task, CarriesMoveOnlyValues) {
  int out = 0;
  take(out);
  EXPECT_EQ(out, 7);
}

TEST(Task, ReadyValuesDoNotDeepenTheStack) {
  long sum = 0;
  loop_of_ready_values(1'000'000, sum);
  EXPECT_EQ(sum, 499'999'500'000);
}

TEST(FramePool, GivesBackWhatWasFreed) {
  for (const std::size_t size : {1u, 64u, 65u, 2048u, 2049u, 100'000u}) {
    void* frame = allocate_frame(size);
    static_cast<char*>(frame)[size - 1] = 'x';
    free_frame(frame, size);
    void* again = allocate_frame(size);
    static_cast<char*>(again)[0] = 'y';
    free_frame(again, size);
  }
}

}  // namespace
}  // namespace edge::net
