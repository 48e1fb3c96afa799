#include "controller/assignments.h"

#include <utility>

#include "program/region_label.h"
#include "program/values/endpoints.h"

namespace edge::controller {

Assignments::Assignments(const AssignmentsOptions& options)
    : publish_addresses_(options.addresses),
      publish_links_(options.links),
      agents_key_(options.key.derived_secret("words of agents 1")),
      node_labels_(options.data_dir + "/node-labels", options.node_labels, options.log),
      wan_(options.key.derived_secret("sdwan 1"),
           [this](std::shared_ptr<const std::vector<SiteLinks>> sites) { publish_sites(std::move(sites)); }) {}

void Assignments::restore() {
  const std::lock_guard lock(mutex_);
  node_labels_.restore();
}

void Assignments::take(const std::vector<ObjectEdit>& edits) {
  take_vips(edits);
  for (const ObjectEdit& edit : edits) {
    if (edit.key.kind != "Secret") continue;
    wan_.put_secret(edit.key.qualified_namespace(), edit.key.name, edit.object ? edit.object->document : std::string());
  }
}

void Assignments::take_vips(const std::vector<ObjectEdit>& edits) {
  const std::lock_guard lock(mutex_);
  bool changed = false;
  for (const ObjectEdit& edit : edits) {
    const std::string space = edit.key.qualified_namespace();
    if (edit.key.kind == "Secret") {
      changed = vips_.put_secret(space, edit.key.name, edit.object ? edit.object->document : std::string()) || changed;
    }
    if (edit.key.kind != "ProxyVIP") continue;
    const bool other = edit.object ? vips_.put(space, edit.key.name, edit.object->document, edit.object->status)
                                   : vips_.remove(space, edit.key.name);
    changed = changed || other;
  }
  if (changed && known_) publish_vips();
}

void Assignments::synced() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(known_, true)) publish_vips();
}

void Assignments::set_node_labels(const std::string& node, Labels labels) {
  const std::lock_guard lock(mutex_);
  node_labels_.set(node, std::move(labels));
}

void Assignments::nodes_synced() {
  const std::lock_guard lock(mutex_);
  node_labels_.synced();
}

/// Under the lock. A key that cannot be made leaves agents with what they have.
void Assignments::publish_vips() {
  auto all = std::make_shared<VirtualAddresses>();
  all->addresses = vips_.addresses();
  for (const VirtualAddress& site : sites_) {
    if (all->addresses.size() < VirtualAddresses::kMost) all->addresses.push_back(site);
  }
  NodeLabels::Keys keys = {std::string(program::kZoneLabel), std::string(program::kRegionLabel)};
  for (const VirtualAddress& address : all->addresses) {
    for (const auto& [key, value] : address.node_selector) keys.insert(key);
  }
  node_labels_.set_keys(std::move(keys));
  all->key = agents_key_;
  published_ = all;
  if (!all->key.empty()) publish_addresses_(std::move(all));
}

std::shared_ptr<const VirtualAddresses> Assignments::addresses() const {
  const std::lock_guard lock(mutex_);
  return published_;
}

void Assignments::publish_sites(std::shared_ptr<const std::vector<SiteLinks>> sites) {
  {
    const std::lock_guard lock(mutex_);
    std::vector<VirtualAddress> holders;
    for (const SiteLinks& site : *sites) {
      const std::size_t slash = site.site.find('/');
      holders.push_back({.name_space = site.site.substr(0, slash),
                         .name = site.site.substr(slash + 1),
                         .address = {},
                         .bgp = {},
                         .interface = {},
                         .node_selector = site.node_selector,
                         .site = true});
    }
    const bool changed = holders != sites_;
    sites_ = std::move(holders);
    // With the selectors, too.
    if (changed && known_) publish_vips();
  }
  publish_links_(std::move(sites));
}

}  // namespace edge::controller
