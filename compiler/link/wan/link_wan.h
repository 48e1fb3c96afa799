// Site, WANLink and WANPolicy, whose references are resolved, as LinkedWan.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "compiler/link/wan/linked_wan.h"
#include "compiler/model/resource_set.h"

namespace edge::compiler::link {

class WanLinker {
 public:
  /// Takes every site; `resources` outlives it, and its positions are what `add` is given.
  explicit WanLinker(const model::ResourceSet& resources);

  void add(const model::WanLink& link, std::uint32_t site);
  /// `sites`: where the policy holds; empty: at every site of its namespace. Links that were not added are left out.
  void add(const model::WanPolicy& policy, std::vector<std::uint32_t> sites, const std::vector<std::uint32_t>& links);
  LinkedWan take();

 private:
  const model::ResourceSet& resources_;
  LinkedWan wan_;
  std::map<const model::WanLink*, std::uint32_t> links_;  ///< positions in wan_
};

}  // namespace edge::compiler::link
