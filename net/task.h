// Task: the result of an operation that may have to wait, as a ready value or a coroutine.
//
// The rules that keep the data plane cheap: a task starts at once; the usual path is a plain function that returns a
// ready value, the slow path a coroutine; co_await is used only as a whole statement or an initialiser; a suspended
// chain is never destroyed, it is resumed with an error (loop.h, Waiter::cancel); an exception that leaves a coroutine
// aborts. Not thread-safe: a task lives on one loop.
#pragma once

#include <cassert>
#include <coroutine>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "net/frame_pool.h"

namespace edge::net {

namespace task_detail {

struct PromiseBase {
  std::coroutine_handle<> continuation = std::noop_coroutine();

  static void* operator new(std::size_t size) { return allocate_frame(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { free_frame(frame, size); }

  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <typename Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> finished) const noexcept {
      return finished.promise().continuation;
    }
    void await_resume() const noexcept {}
  };
  std::suspend_never initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }
  [[noreturn]] void unhandled_exception() const noexcept { std::abort(); }
};

}  // namespace task_detail

/// T must be default-constructible and movable.
template <typename T>
class [[nodiscard]] Task {
 public:
  struct promise_type : task_detail::PromiseBase {
    T value{};
    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    void return_value(T result) { value = std::move(result); }
  };

  Task(T ready) : value_(std::move(ready)) {}  // NOLINT(google-explicit-constructor)
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})), value_(std::move(other.value_)) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (!handle_) return;
    assert(handle_.done());
    handle_.destroy();
  }

  bool await_ready() const noexcept { return !handle_ || handle_.done(); }
  void await_suspend(std::coroutine_handle<> waiter) noexcept { handle_.promise().continuation = waiter; }
  T await_resume() { return handle_ ? std::move(handle_.promise().value) : std::move(value_); }

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

  std::coroutine_handle<promise_type> handle_{};
  T value_{};
};

template <>
class [[nodiscard]] Task<void> {
 public:
  struct promise_type : task_detail::PromiseBase {
    Task get_return_object() { return Task(std::coroutine_handle<promise_type>::from_promise(*this)); }
    void return_void() const noexcept {}
  };

  /// Already finished.
  Task() = default;
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (!handle_) return;
    assert(handle_.done());
    handle_.destroy();
  }

  bool await_ready() const noexcept { return !handle_ || handle_.done(); }
  void await_suspend(std::coroutine_handle<> waiter) noexcept { handle_.promise().continuation = waiter; }
  void await_resume() const noexcept {}

 private:
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

  std::coroutine_handle<promise_type> handle_{};
};

/// The outermost coroutine of a session: not awaited, its frame is freed when it ends.
struct Detached {
  struct promise_type {
    static void* operator new(std::size_t size) { return allocate_frame(size); }
    static void operator delete(void* frame, std::size_t size) noexcept { free_frame(frame, size); }
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    [[noreturn]] void unhandled_exception() const noexcept { std::abort(); }
  };
};

}  // namespace edge::net
