// The timer of an agent's own observations: the health of backends, certificates and listeners every second, samples
// for the last hour every five.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace edge::agent {

class Sampler {
 public:
  /// Both are called on a thread of its own. `look` is called less often where it takes more than one percent of the
  /// time.
  Sampler(std::function<void()> look, std::function<void()> record);
  /// Waits while one of them runs.
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
