// The agent group named by each node's label, as last read from the cluster: stored on disk, so that a controller that
// starts while the API is unreachable gives no agent the program of another group.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/log.h"

namespace edge::controller {

/// Not thread-safe.
class NodeGroups {
 public:
  static constexpr std::size_t kMost = 65'536;

  /// `tell` is called with a node's current group; empty: none.
  NodeGroups(std::string path, std::function<void(const std::string& node, std::string group)> tell, Logger log);

  /// Calls `tell` for the groups stored on disk.
  void restore();
  void set(const std::string& node, std::string group);
  /// Called when all nodes have been set: others are removed. From then on each change is written to disk.
  void synced();

 private:
  void write() const;

  const std::string path_;
  const std::function<void(const std::string&, std::string)> tell_;
  const Logger log_;
  std::map<std::string, std::string, std::less<>> groups_;
  std::map<std::string, std::string, std::less<>> restored_;  ///< and not set since
  bool synced_ = false;
};

}  // namespace edge::controller
