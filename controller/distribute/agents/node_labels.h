// The labels of each node that agents are told: those that node selectors of virtual addresses name, and its zone. As
// the cluster said last: kept on disk, so that a controller that starts while Nodes cannot be read takes no address
// away from an agent.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "base/labels.h"
#include "base/log.h"

namespace edge::controller {

/// Not thread-safe.
class NodeLabels {
 public:
  static constexpr std::size_t kMostNodes = 65'536;
  static constexpr std::size_t kMostLabels = 256;  ///< of a node
  using Keys = std::set<std::string, std::less<>>;

  /// `tell` is told what a node's labels are now, of those with the keys below.
  NodeLabels(std::string path, std::function<void(const std::string& node, Labels labels)> tell, Logger log);

  /// Tells of what is on disk.
  void restore();
  /// All labels of a node; empty: it has none, or is gone.
  void set(const std::string& node, Labels labels);
  /// All that there are have been set: others are gone. From now on each change is written.
  void synced();
  /// The keys of labels that agents are told.
  void set_keys(Keys keys);

 private:
  Labels named(const Labels& labels) const;
  bool update(const std::string& node);
  void write() const;

  const std::string path_;
  const std::function<void(const std::string&, Labels)> tell_;
  const Logger log_;
  std::optional<Keys> keys_;  ///< nullopt: selectors are not known yet
  std::unordered_map<std::string, Labels> labels_;
  std::map<std::string, Labels, std::less<>> named_;
  std::set<std::string> restored_;  ///< and not set since
  bool synced_ = false;
};

}  // namespace edge::controller
