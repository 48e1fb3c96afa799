// Where passwords are checked: on threads of their own, which give way to the workers, from a queue that is bounded. A
// check may take a good part of a second, and no loop has that.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "net/loop.h"
#include "net/task.h"
#include "runtime/policy/auth/basic/htpasswd.h"
#include "runtime/policy/auth/keyed_digest.h"
#include "runtime/policy/auth/wait_list.h"

namespace edge::runtime::auth {

struct PasswordPoolOptions {
  /// 0: half of the machine's cores, one at least. They start with the first check.
  unsigned threads = 0;
  /// Checks that wait for a thread; further ones are refused.
  std::size_t max_waiting = 64;
  /// Of these, from one client: who tries passwords leaves room for others.
  std::size_t max_of_source = 16;
  /// How long a request waits.
  net::Duration patience = std::chrono::seconds(10);
};

/// From any thread.
class PasswordPool {
 public:
  enum class Answer : std::uint8_t {
    kWrong,
    kRight,
    kBusy,  ///< nobody could tell in time
  };
  struct Question {
    /// Of user, password and hash: equal ones are one check, however many ask.
    Digest digest;
    /// Whom the client is counted as.
    std::uint64_t source;
    std::shared_ptr<const Htpasswd> users;
    /// One of the users'; null: the user is not there, and the answer is wrong in the time that a right one takes.
    const PasswordHash* hash;
    std::string password;
  };

  explicit PasswordPool(PasswordPoolOptions options = {});
  /// Waits for the checks that are under way. Nobody may be waiting.
  ~PasswordPool();
  PasswordPool(const PasswordPool&) = delete;
  PasswordPool& operator=(const PasswordPool&) = delete;

  /// `asker`: whose connection it is asked for; once that breaks nobody waits any more. May be null.
  net::Task<Answer> check(net::Loop& loop, net::Waiter& waiter, Question question, net::Channel* asker = nullptr);
  /// Checks that were made, and questions that were refused.
  std::uint64_t checks() const;
  std::uint64_t refusals() const;

 private:
  struct Job;
  std::shared_ptr<Job> find_or_queue(Question& question);
  net::Task<Answer> wait(std::shared_ptr<Job> job, std::shared_ptr<WaitList::Entry> entry, net::Loop& loop,
                         net::Waiter& waiter, net::Channel* asker);
  void work();

  const PasswordPoolOptions options_;
  mutable std::mutex mutex_;
  // Under the mutex:
  std::condition_variable wanted_;
  std::deque<std::shared_ptr<Job>> queue_;
  /// Waiting or under way.
  std::unordered_map<Digest, std::shared_ptr<Job>, DigestHash> jobs_;
  std::uint64_t checks_ = 0;
  std::uint64_t refusals_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

/// By `hash`, or as long as by `decoy` where there is none. Of two of unlike cost both are computed.
bool check_password(const PasswordHash* hash, const PasswordHash& decoy, std::string_view password);

}  // namespace edge::runtime::auth
