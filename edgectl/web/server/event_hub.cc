#include "edgectl/web/server/event_hub.h"

#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::edgectl::web {

using net::server::BodySource;

class EventHub::Viewer final : public BodySource {
 public:
  Viewer(std::shared_ptr<State> state, ViewerRules rules)
      : state_(std::move(state)), rules_(std::move(rules)), changes_seen_(state_->version), beat_(state_->beats) {
    state_->viewers.insert(this);
  }
  ~Viewer() override { state_->viewers.erase(this); }

  Next next(std::string& out) override {
    if (state_->closed || (rules_.over && rules_.over())) return Next::kEnd;
    if (!std::exchange(begun_, true)) out += "retry: 1000\n\n";
    add_changes(out);
    if (seen_ < state_->version) {
      for (const auto& [name, topic] : state_->topics) {
        if (topic.version > seen_) add_event(name, *topic.text, out);
      }
      seen_ = state_->version;
    }
    if (std::exchange(beat_, state_->beats) != state_->beats) out += ":\n\n";
    return Next::kNothingYet;
  }
  void on_ready(std::function<void()> ready) override { ready_ = std::move(ready); }
  void wake() const {
    if (ready_) ready_();
  }

 private:
  void add_event(const std::string& name, const std::string& text, std::string& out) const {
    out += "event: " + name + "\ndata: ";
    out += rules_.shown ? rules_.shown(name, text) : text;
    out += "\n\n";
  }

  void add_changes(std::string& out) {
    nlohmann::json kinds = nlohmann::json::array();
    for (const auto& [kind, version] : state_->changes) {
      if (version <= changes_seen_) continue;
      if (!rules_.told_of_kind || rules_.told_of_kind(kind)) kinds.push_back(kind);
    }
    changes_seen_ = state_->version;
    if (!kinds.empty())
      out += "event: changed\ndata: " + json_line(nlohmann::json{{"kinds", std::move(kinds)}}) + "\n\n";
  }

  std::shared_ptr<State> state_;
  const ViewerRules rules_;
  std::function<void()> ready_;
  std::uint64_t changes_seen_;
  std::uint64_t seen_ = 0;
  std::uint64_t beat_;
  bool begun_ = false;
};

void EventHub::add_changes(const std::set<std::string, std::less<>>& kinds) {
  ++state_->version;
  for (const std::string& kind : kinds) state_->changes[kind] = state_->version;
  wake_all();
}

void EventHub::publish(std::string_view topic, std::string data) {
  const auto found = state_->topics.try_emplace(std::string(topic)).first;
  found->second.version = ++state_->version;
  found->second.text = std::make_shared<const std::string>(std::move(data));
  wake_all();
}

void EventHub::beat() {
  ++state_->beats;
  wake_all();
}

std::unique_ptr<BodySource> EventHub::watch(ViewerRules rules) {
  if (state_->closed || state_->viewers.size() >= kMostViewers) return nullptr;
  return std::make_unique<Viewer>(state_, std::move(rules));
}

void EventHub::close() {
  state_->closed = true;
  wake_all();
}

void EventHub::wake_all() {
  // A viewer that is woken may end, and so leave the set.
  const std::vector<Viewer*> viewers(state_->viewers.begin(), state_->viewers.end());
  for (Viewer* viewer : viewers) {
    if (state_->viewers.contains(viewer)) viewer->wake();
  }
}

}  // namespace edge::edgectl::web
