// The clock of what an agent notices by itself: every second how backends, certificates and listeners are, every five
// the figures of the last hour.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace edge::agent {

class Sampler {
 public:
  /// Both are called on a thread of its own. `look` is called less often where it takes more than a hundredth of the
  /// time.
  Sampler(std::function<void()> look, std::function<void()> record);
  /// Does not return while one of them runs.
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

 private:
  void run();

  const std::function<void()> look_;
  const std::function<void()> record_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace edge::agent
