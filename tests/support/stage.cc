#include "tests/support/stage.h"

namespace edge::test {

void Stage::signal(const std::string& name) {
  const std::lock_guard lock(mutex_);
  signals_.insert(name);
  changed_.notify_all();
}

Status Stage::wait(const std::string& name) {
  std::unique_lock lock(mutex_);
  const bool came =
      changed_.wait_until(lock, end_, [&] { return signals_.contains(name) || aborted_.load(); }) && !aborted_;
  if (!came) return Error{ErrorCode::kDeadlineExceeded, "signal " + name + " never came"};
  return {};
}

void Stage::abort() {
  const std::lock_guard lock(mutex_);
  aborted_ = true;
  changed_.notify_all();
}

void Stage::fail(const std::string& text) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_.empty()) failure_ = text;
  }
  abort();
}

std::string Stage::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

}  // namespace edge::test
