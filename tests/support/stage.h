// Where the parties of a case meet: named signals, and the one deadline.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>

#include "tests/support/connection.h"

namespace edge::test {

class Stage {
 public:
  explicit Stage(std::chrono::seconds time) : end_(std::chrono::steady_clock::now() + time) {}

  Deadline deadline() { return {end_, &aborted_}; }
  void signal(const std::string& name);
  Status wait(const std::string& name);
  /// A party failed: whoever waits stops waiting.
  void abort();
  /// The first failure counts; later ones mostly follow from it.
  void fail(const std::string& text);
  std::string failure() const;

 private:
  const std::chrono::steady_clock::time_point end_;
  std::atomic<bool> aborted_ = false;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> signals_;
  std::string failure_;
};

}  // namespace edge::test
