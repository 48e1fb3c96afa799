#include "edgectl/web/access/visible.h"

namespace edge::edgectl::web {

std::shared_ptr<const Visible> Visible::all() {
  static const std::shared_ptr<const Visible> kAll = [] {
    auto all = std::make_shared<Visible>();
    all->allow_everything();
    all->allow_agents(true, true);
    return all;
  }();
  return kAll;
}

bool Visible::may_list(const schemas::Kind& kind, std::string_view name_space) const {
  if (everything_ || whole_.contains(&kind)) return true;
  const auto spaces = spaces_.find(&kind);
  return !name_space.empty() && spaces != spaces_.end() && spaces->second.contains(name_space);
}

bool Visible::may_list_some(const schemas::Kind& kind) const {
  return everything_ || whole_.contains(&kind) || spaces_.contains(&kind);
}

}  // namespace edge::edgectl::web
