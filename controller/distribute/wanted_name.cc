#include "controller/distribute/wanted_name.h"

#include <algorithm>
#include <tuple>

#include "program/values/ordered_certificates.h"

namespace edge::controller {

bool is_on_demand(const program::ValueSet& values, const WantedName& name) {
  const auto key = [](const auto& secret) { return std::tie(secret->name_space, secret->name); };
  const auto found = std::ranges::lower_bound(values.secrets, std::tie(name.name_space, name.secret), {}, key);
  if (found == values.secrets.end() || key(*found) != std::tie(name.name_space, name.secret)) return false;
  return std::ranges::find((*found)->values, program::kOnDemandKey, &program::SecretValue::key) !=
         (*found)->values.end();
}

void WantedRate::cut(std::vector<WantedName>& names, Time now) {
  const std::chrono::duration<double> since = filled_ == Time{} ? std::chrono::duration<double>(0) : now - filled_;
  filled_ = now;
  left_ = std::min(kAtOnce * a_second_, left_ + since.count() * a_second_);
  if (static_cast<double>(names.size()) > left_) names.resize(static_cast<std::size_t>(left_));
  left_ -= static_cast<double>(names.size());
}

}  // namespace edge::controller
