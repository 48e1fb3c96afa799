// Runs calls that block, one after the other, on a thread of their own, for coroutines of a loop that wait for them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "net/loop.h"
#include "net/task.h"

namespace edge::edgectl::web {

class Jobs {
 public:
  /// `most`: jobs that may wait; further ones are refused.
  Jobs(net::Loop& loop, std::size_t most);
  /// Waits for the job in progress.
  ~Jobs();
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  using Work = std::function<Result<std::string>()>;
  struct Outcome {
    Result<std::string> result = Error{ErrorCode::kCancelled, "the server is stopping"};
  };
  /// Returns what `work` returns. kResourceExhausted: too many wait; kDeadlineExceeded: not done in time, the result is
  /// dropped; kCancelled: `close` was called. For the loop's thread.
  net::Task<Outcome> run(Work work, net::Duration time);

  /// Ends all waits. For the loop's thread.
  void close();

 private:
  struct Pending {
    Pending(net::Loop& loop, Work todo) : work(std::move(todo)), waiter(loop) {}
    Work work;
    Outcome outcome{};
    net::Waiter waiter;
    bool done = false;      ///< of the loop's thread
    bool given_up = false;  ///< of the loop's thread
  };

  bool add(const std::shared_ptr<Pending>& job);
  void run_all();

  net::Loop& loop_;
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<std::shared_ptr<Pending>> queue_;
  bool over_ = false;
  std::vector<std::weak_ptr<Pending>> waiting_;  ///< of the loop's thread
  bool closed_ = false;                          ///< of the loop's thread
  std::thread thread_;
};

}  // namespace edge::edgectl::web
