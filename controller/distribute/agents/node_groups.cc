#include "controller/distribute/agents/node_groups.h"

#include <algorithm>
#include <utility>

#include "base/labels.h"
#include "base/os/file.h"

namespace edge::controller {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{32} << 20;

}  // namespace

NodeGroups::NodeGroups(std::string path, std::function<void(const std::string&, std::string)> tell, Logger log)
    : path_(std::move(path)), tell_(std::move(tell)), log_(std::move(log)) {}

/// `node group` a line; one that is none is passed over.
void NodeGroups::restore() {
  const auto text = read_file(path_, kMaxBytes);
  if (!text) {
    if (text.error().code != ErrorCode::kNotFound) log_.warn("groups of nodes: " + text.error().text);
    return;
  }
  std::string_view rest = *text;
  while (!rest.empty() && restored_.size() < kMost) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || space == 0) continue;
    std::string group(line.substr(space + 1));
    if (group.empty() || !is_label_value(group)) continue;
    restored_.emplace(line.substr(0, space), std::move(group));
  }
  groups_ = restored_;
  for (const auto& [node, group] : groups_) tell_(node, group);
}

void NodeGroups::set(const std::string& node, std::string group) {
  restored_.erase(node);
  const auto known = groups_.find(node);
  if (known == groups_.end() ? group.empty() || groups_.size() >= kMost : known->second == group) return;
  if (group.empty()) {
    groups_.erase(known);
  } else {
    groups_[node] = group;
  }
  tell_(node, std::move(group));
  if (synced_) write();
}

void NodeGroups::synced() {
  for (const auto& [node, group] : std::exchange(restored_, {})) set(node, {});
  synced_ = true;
  write();
}

void NodeGroups::write() const {
  std::string text;
  for (const auto& [node, group] : groups_) text += node + " " + group + "\n";
  if (const auto there = read_file(path_, kMaxBytes); there ? *there == text : text.empty()) return;
  if (Status status = write_file(path_, std::string_view(text), FileAccess::kOwnerOnly); !status) {
    log_.warn("the groups of nodes could not be stored: " + status.error().text);
  }
}

}  // namespace edge::controller
