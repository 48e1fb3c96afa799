#include "edgectl/web/server/jobs.h"

#include <utility>

namespace edge::edgectl::web {

Jobs::Jobs(net::Loop& loop, std::size_t most) : loop_(loop), most_(most), thread_([this] { run_all(); }) {}

Jobs::~Jobs() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
    queue_.clear();
  }
  added_.notify_all();
  thread_.join();
}

net::Task<Jobs::Outcome> Jobs::run(Work work, net::Duration time) {
  const auto job = std::make_shared<Pending>(loop_, std::move(work));
  if (!add(job)) co_return Outcome{Error{ErrorCode::kResourceExhausted, "too many calls wait: try again later"}};
  const net::Time until = loop_.now() + time;
  while (!job->done) {
    const net::Wake wake = co_await job->waiter.wait(until);
    if (wake == net::Wake::kReady || job->done) continue;
    job->given_up = true;
    if (wake == net::Wake::kCancelled) co_return Outcome{};
    co_return Outcome{Error{ErrorCode::kDeadlineExceeded, "no answer in time"}};
  }
  co_return std::move(job->outcome);
}

bool Jobs::add(const std::shared_ptr<Pending>& job) {
  if (closed_) return false;
  {
    const std::scoped_lock lock(mutex_);
    if (queue_.size() >= most_) return false;
    queue_.push_back(job);
  }
  std::erase_if(waiting_, [](const std::weak_ptr<Pending>& one) { return one.expired(); });
  waiting_.push_back(job);
  added_.notify_one();
  return true;
}

void Jobs::run_all() {
  while (true) {
    std::shared_ptr<Pending> job;
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return over_ || !queue_.empty(); });
      if (over_) return;
      job = std::move(queue_.front());
      queue_.pop_front();
    }
    job->outcome.result = job->work();
    const std::scoped_lock lock(mutex_);
    // Nobody waits any more, and the loop may have ended.
    if (over_) return;
    // The last reference goes away on the loop's thread, as its waiter must.
    loop_.post([done = std::move(job)] {
      done->done = true;
      if (!done->given_up) done->waiter.wake(net::Wake::kReady);
    });
  }
}

void Jobs::close() {
  closed_ = true;
  for (const std::weak_ptr<Pending>& one : waiting_) {
    if (const auto pending = one.lock()) pending->waiter.cancel();
  }
}

}  // namespace edge::edgectl::web
