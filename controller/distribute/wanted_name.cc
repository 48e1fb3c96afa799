#include "controller/distribute/wanted_name.h"

#include <algorithm>

namespace edge::controller {

void WantedRate::cut(std::vector<WantedName>& names, Time now) {
  const std::chrono::duration<double> since = filled_ == Time{} ? std::chrono::duration<double>(0) : now - filled_;
  filled_ = now;
  left_ = std::min(kAtOnce * a_second_, left_ + since.count() * a_second_);
  if (static_cast<double>(names.size()) > left_) names.resize(static_cast<std::size_t>(left_));
  left_ -= static_cast<double>(names.size());
}

}  // namespace edge::controller
