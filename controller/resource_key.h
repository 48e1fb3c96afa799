// Names a resource within the controller. The kinds that it reads have different names, whatever their groups.
#pragma once

#include <compare>
#include <string>

namespace edge::controller {

struct ResourceKey {
  std::string kind;
  std::string name_space;  ///< empty: a kind of the whole cluster
  std::string name;

  /// `ProxyRoute shop/cart`: as diagnostics name resources.
  std::string text() const { return kind + " " + (name_space.empty() ? name : name_space + "/" + name); }
  friend auto operator<=>(const ResourceKey&, const ResourceKey&) = default;
};

}  // namespace edge::controller
