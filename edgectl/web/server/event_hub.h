// Server-sent events (WHATWG HTML, "Server-sent events") for any number of viewers. A topic has one current text; a
// viewer is sent the texts that it has not had yet, so that a slow one skips what was replaced meanwhile and costs no
// memory. Which kinds changed is the topic `changed`.
//
// For the loop's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "net/server/message.h"

namespace edge::edgectl::web {

/// What one viewer is sent; empty members: everything, for as long as they like.
struct ViewerRules {
  /// Returns the text of a topic as the viewer may see it.
  std::function<std::string(std::string_view topic, const std::string& data)> shown{};
  std::function<bool(std::string_view kind)> told_of_kind{};
  /// Returns whether the stream is to end.
  std::function<bool()> over{};
};

class EventHub {
 public:
  static constexpr std::size_t kMostViewers = 512;

  EventHub() : state_(std::make_shared<State>()) {}

  /// Tells which kinds have changed; for a viewer who has not been told yet, they add up.
  void add_changes(const std::set<std::string, std::less<>>& kinds);
  /// `data`: one line. Replaces the topic's text.
  void publish(std::string_view topic, std::string data);
  /// Sends a comment, by which connections that are gone are noticed.
  void beat();
  /// Returns the stream of one viewer, which begins with the current texts; null at kMostViewers.
  std::unique_ptr<net::server::BodySource> watch(ViewerRules rules = {});
  std::size_t viewers() const { return state_->viewers.size(); }
  /// Ends all streams.
  void close();

 private:
  class Viewer;
  struct Topic {
    std::shared_ptr<const std::string> text;  ///< the event's data
    std::uint64_t version = 0;
  };
  /// Shared with the viewers, which the server destroys.
  struct State {
    std::map<std::string, Topic, std::less<>> topics;
    std::map<std::string, std::uint64_t> changes;  ///< version by kind
    std::set<Viewer*> viewers;
    std::uint64_t version = 0;
    std::uint64_t beats = 0;
    bool closed = false;
  };

  void wake_all();

  std::shared_ptr<State> state_;
};

}  // namespace edge::edgectl::web
