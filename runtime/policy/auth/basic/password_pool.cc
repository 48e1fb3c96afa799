#include "runtime/policy/auth/basic/password_pool.h"

#include <algorithm>
#include <utility>

#include <openssl/crypto.h>

#include "base/os/thread_priority.h"

namespace edge::runtime::auth {
namespace {

/// Requests that wait for one check.
constexpr std::size_t kMostJoined = 1024;

}  // namespace

struct PasswordPool::Job {
  explicit Job(Question asked) : question(std::move(asked)) {}
  ~Job() { OPENSSL_cleanse(question.password.data(), question.password.size()); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  Question question;
  WaitList waiting{kMostJoined};
  /// Under the pool's mutex. kBusy until it is found out.
  Answer answer = Answer::kBusy;
};

bool check_password(const PasswordHash* hash, const PasswordHash& decoy, std::string_view password) {
  if (hash == nullptr) {
    decoy.verify(password);
    return false;
  }
  const bool right = hash->verify(password);
  if (hash->cost() < decoy.cost()) decoy.verify(password);
  return right;
}

PasswordPool::PasswordPool(PasswordPoolOptions options) : options_(options) {}

PasswordPool::~PasswordPool() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  wanted_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

net::Task<PasswordPool::Answer> PasswordPool::check(net::Loop& loop, net::Waiter& waiter, Question question,
                                                    net::Channel* asker) {
  std::shared_ptr<Job> job;
  std::shared_ptr<WaitList::Entry> entry;
  {
    const std::scoped_lock lock(mutex_);
    job = find_or_queue(question);
    // Under the mutex: whoever ends the job comes after this.
    if (job != nullptr) entry = job->waiting.enter(loop, waiter);
    if (entry == nullptr) {
      ++refusals_;
      return Answer::kBusy;
    }
  }
  wanted_.notify_one();
  return wait(std::move(job), std::move(entry), loop, waiter, asker);
}

net::Task<PasswordPool::Answer> PasswordPool::wait(std::shared_ptr<Job> job, std::shared_ptr<WaitList::Entry> entry,
                                                   net::Loop& loop, net::Waiter& waiter, net::Channel* asker) {
  const net::Time until = loop.now() + options_.patience;
  if (asker != nullptr) {
    co_await waiter.wait(until, *asker, net::kHangUp);
  } else {
    co_await waiter.wait(until);
  }
  job->waiting.leave(entry);
  const std::scoped_lock lock(mutex_);
  // Who joins does so under the mutex: nobody comes any more once it is out of the queue.
  if (job->waiting.empty() && std::erase(queue_, job) != 0) jobs_.erase(job->question.digest);
  co_return job->answer;
}

/// Null: there is no room.
std::shared_ptr<PasswordPool::Job> PasswordPool::find_or_queue(Question& question) {
  const auto known = jobs_.find(question.digest);
  if (known != jobs_.end()) return known->second;
  const auto of_source = std::ranges::count_if(
      queue_, [&](const std::shared_ptr<Job>& job) { return job->question.source == question.source; });
  if (queue_.size() >= options_.max_waiting || static_cast<std::size_t>(of_source) >= options_.max_of_source) {
    return nullptr;
  }
  if (threads_.empty()) {
    const unsigned half = std::max(1U, std::thread::hardware_concurrency() / 2);
    const unsigned count = options_.threads != 0 ? options_.threads : half;
    for (unsigned i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
  }
  auto job = std::make_shared<Job>(std::move(question));
  jobs_.emplace(job->question.digest, job);
  queue_.push_back(job);
  return job;
}

void PasswordPool::work() {
  lower_thread_priority();
  std::unique_lock lock(mutex_);
  while (true) {
    wanted_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    const std::shared_ptr<Job> job = std::move(queue_.front());
    queue_.pop_front();
    Answer answer = Answer::kBusy;
    // Nobody waits any more for what came too late.
    if (!job->waiting.empty()) {
      ++checks_;
      lock.unlock();
      const Question& question = job->question;
      const bool right = check_password(question.hash, *question.users->decoy(), question.password);
      answer = right ? Answer::kRight : Answer::kWrong;
      lock.lock();
    }
    job->answer = answer;
    jobs_.erase(job->question.digest);
    job->waiting.wake_all();
  }
}

std::uint64_t PasswordPool::checks() const {
  const std::scoped_lock lock(mutex_);
  return checks_;
}

std::uint64_t PasswordPool::refusals() const {
  const std::scoped_lock lock(mutex_);
  return refusals_;
}

}  // namespace edge::runtime::auth
