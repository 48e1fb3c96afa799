#include "controller/distribute/agents/node_labels.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/os/file.h"

namespace edge::controller {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{32} << 20;

/// `key=value` of a line that begins with the node; what is no label is passed over.
Labels read_line(std::string_view line) {
  Labels labels;
  while (!line.empty() && labels.size() < NodeLabels::kMostLabels) {
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(std::min(word.size() + 1, line.size()));
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = word.substr(0, equals);
    const std::string_view value = word.substr(equals + 1);
    if (is_label_key(key) && is_label_value(value)) labels.emplace(key, value);
  }
  return labels;
}

}  // namespace

NodeLabels::NodeLabels(std::string path, std::function<void(const std::string&, Labels)> tell, Logger log)
    : path_(std::move(path)), tell_(std::move(tell)), log_(std::move(log)) {}

/// `node key=value ...` a line.
void NodeLabels::restore() {
  const auto text = read_file(path_, kMaxFileBytes);
  if (!text) {
    if (text.error().code != ErrorCode::kNotFound) log_.warn("labels of nodes: " + text.error().text);
    return;
  }
  std::string_view rest = *text;
  while (!rest.empty() && labels_.size() < kMostNodes) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos || space == 0) continue;
    Labels labels = read_line(line.substr(space + 1));
    if (labels.empty()) continue;
    const std::string node(line.substr(0, space));
    labels_[node] = std::move(labels);
    restored_.insert(node);
    update(node);
  }
}

void NodeLabels::set(const std::string& node, Labels labels) {
  restored_.erase(node);
  while (labels.size() > kMostLabels) labels.erase(std::prev(labels.end()));
  if (labels.empty()) {
    labels_.erase(node);
  } else if (labels_.contains(node) || labels_.size() < kMostNodes) {
    labels_[node] = std::move(labels);
  }
  if (update(node) && synced_) write();
}

void NodeLabels::synced() {
  for (const std::string& node : std::exchange(restored_, {})) set(node, {});
  synced_ = true;
  write();
}

void NodeLabels::set_keys(Keys keys) {
  if (keys_ == keys) return;
  keys_ = std::move(keys);
  for (const auto& [node, labels] : labels_) update(node);
  if (synced_) write();
}

Labels NodeLabels::named(const Labels& labels) const {
  Labels named;
  for (const auto& [key, value] : labels) {
    if (keys_ && keys_->contains(key)) named.emplace(key, value);
  }
  return named;
}

/// Tells of a node whose labels are others. \returns whether they are.
bool NodeLabels::update(const std::string& node) {
  const auto found = labels_.find(node);
  Labels now = found == labels_.end() ? Labels() : named(found->second);
  const auto before = named_.find(node);
  if (before == named_.end() ? now.empty() : before->second == now) return false;
  if (now.empty()) {
    named_.erase(node);
  } else {
    named_[node] = now;
  }
  tell_(node, std::move(now));
  return true;
}

void NodeLabels::write() const {
  if (!keys_) return;
  std::string text;
  for (const auto& [node, labels] : named_) {
    text += node;
    for (const auto& [key, value] : labels) text += " " + key + "=" + value;
    text += "\n";
  }
  if (const auto there = read_file(path_, kMaxFileBytes); there ? *there == text : text.empty()) return;
  if (Status status = write_file(path_, std::string_view(text), FileAccess::kOwnerOnly); !status) {
    log_.warn("the labels of nodes could not be stored: " + status.error().text);
  }
}

}  // namespace edge::controller
