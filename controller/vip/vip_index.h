// ProxyVIPs of the cluster as the virtual addresses that agents are given, apart from the compile path.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "controller/distribute/virtual_addresses.h"

namespace edge::controller {

/// Not thread-safe.
class VipIndex {
 public:
  /// An object that is new or another, as the compiler would read it, with its status (JSON, may be empty). What cannot
  /// be read leaves the address as it was. `name_space`: with its cluster, where it has one. \returns whether what
  /// agents are given is another.
  bool put(const std::string& name_space, const std::string& name, const std::string& document,
           const std::string& status);
  bool remove(const std::string& name_space, const std::string& name);
  /// Ascending by namespace and name; of more than agents take the first.
  std::vector<VirtualAddress> addresses() const;

 private:
  std::map<std::pair<std::string, std::string>, VirtualAddress> addresses_;
};

}  // namespace edge::controller
