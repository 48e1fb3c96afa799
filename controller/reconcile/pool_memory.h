// Which gateway was given which address of a pool, until the status of the ProxyVIP says so: what is compiled in
// between must give everybody the same, though a gateway came that would have gone first.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/link/conditions.h"

namespace edge::controller {

/// Not thread-safe.
class PoolMemory {
 public:
  /// A ProxyVIP as the cluster has it, `name` by ResourceId::text(). \returns what is compiled: with what was given out
  /// behind what its status has. That goes first, as it is the leader's.
  std::string put(const std::string& name, std::string document);
  void remove(const std::string& name);
  /// What the last compilation gave out.
  void note(const std::vector<compiler::ResourceStatus>& statuses);
  /// The documents that are others now, by name. Empties the list.
  std::map<std::string, std::string> take_changed();

 private:
  struct Vip {
    std::string document;
    std::vector<compiler::PoolUse> given;
    std::string compiled;  ///< returned last
  };
  static std::string with_given(const Vip& vip);

  std::map<std::string, Vip> vips_;  ///< with a pool
  std::set<std::string> changed_;
};

}  // namespace edge::controller
