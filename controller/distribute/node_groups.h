// Which group of agents the label of each node names, as the cluster said last: kept on disk, so that a controller that
// starts while the API is away gives no agent the program of another group.
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

  /// `tell` is told what a node's group is now; empty: it has none.
  NodeGroups(std::string path, std::function<void(const std::string& node, std::string group)> tell, Logger log);

  /// Tells of what is on disk.
  void restore();
  void set(const std::string& node, std::string group);
  /// All that there are have been set: others are gone. From now on each change is written.
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
