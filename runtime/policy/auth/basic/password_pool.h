// Checks passwords on threads of low priority, from a bounded queue, because a check may take a good part of a second,
// for which no event loop may be blocked.
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
  /// Number of threads; 0: half of the machine's cores, at least one. They start with the first check.
  unsigned threads = 0;
  /// Limit of queued checks; further ones are refused.
  std::size_t max_waiting = 64;
  /// Limit of queued checks from one client, so that guessing passwords does not block other clients.
  std::size_t max_of_source = 16;
  /// The longest wait of a request.
  net::Duration patience = std::chrono::seconds(10);
};

/// Threads: any.
class PasswordPool {
 public:
  enum class Answer : std::uint8_t {
    kWrong,
    kRight,
    kBusy,  ///< not decided in time
  };
  struct Question {
    /// Digest of user, password and hash: equal ones share one check.
    Digest digest;
    /// The client, for max_of_source.
    std::uint64_t source;
    std::shared_ptr<const Htpasswd> users;
    /// The user's hash; null: there is no such user, and the answer is kWrong after the time of a real check.
    const PasswordHash* hash;
    std::string password;
  };

  explicit PasswordPool(PasswordPoolOptions options = {});
  /// Waits for the checks in progress. No request may be waiting.
  ~PasswordPool();
  PasswordPool(const PasswordPool&) = delete;
  PasswordPool& operator=(const PasswordPool&) = delete;

  /// Checks a password. `asker`: the connection that the check is for; when it closes the wait ends. May be null.
  net::Task<Answer> check(net::Loop& loop, net::Waiter& waiter, Question question, net::Channel* asker = nullptr);
  /// Returns the number of checks made, and below, of checks refused.
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
  // Guarded by the mutex:
  std::condition_variable wanted_;
  std::deque<std::shared_ptr<Job>> queue_;
  /// Queued or in progress.
  std::unordered_map<Digest, std::shared_ptr<Job>, DigestHash> jobs_;
  std::uint64_t checks_ = 0;
  std::uint64_t refusals_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

/// Checks a password by `hash`, or for as long by `decoy` where there is none. With hashes of different cost both are
/// computed.
bool check_password(const PasswordHash* hash, const PasswordHash& decoy, std::string_view password);

}  // namespace edge::runtime::auth
