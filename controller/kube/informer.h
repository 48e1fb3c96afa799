// Follows all objects of a kind: a list, then a watch, resumed where it ended, listed anew when it cannot be. The
// follower is told of every change once, in order of each object's own history; it keeps the objects, the informer only
// their keys and versions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/kube/client.h"

namespace edge::kube {

struct InformerOptions {
  std::string name_space{};  ///< empty: all
  std::string label_selector{};
  std::string field_selector{};
  bool managed_fields = false;
  unsigned page = 250;
  net::Duration first_delay = std::chrono::milliseconds(800);
  net::Duration longest_delay = std::chrono::seconds(30);
  /// A watch is renewed after a random time between this and its double.
  std::chrono::seconds lifetime = std::chrono::minutes(5);
  /// In [0, 1); for tests. Null: random.
  std::function<double()> random{};
};

/// Called on the loop's thread, one at a time. None may destroy the informer; `stop` may be called from each.
struct InformerEvents {
  /// New, or of another version than before.
  std::function<void(Object object)> changed;
  std::function<void(const std::string& key)> removed;
  /// The first list has been told whole. Once.
  std::function<void()> synced;
  /// The server answers again, or has stopped to: `failure` says why. Told when it turns, and at the first try.
  std::function<void(bool connected, const Failure& failure)> connection;
};

/// Every function on the client's loop.
class Informer {
 public:
  /// Does nothing before `start`.
  Informer(Client& client, Resource resource, InformerOptions options, InformerEvents events);
  /// Stops.
  ~Informer();
  Informer(const Informer&) = delete;
  Informer& operator=(const Informer&) = delete;

  void start();
  /// Nothing is told after it.
  void stop();

  const Resource& resource() const;
  bool synced() const;
  bool connected() const;
  /// How many objects there are.
  std::size_t size() const;
  /// Up to where it has told everything: what the last list or event said. Empty: nowhere yet.
  const std::string& version() const;
  bool knows(const std::string& key) const;
  /// How often everything was listed.
  std::uint64_t lists() const;
  std::uint64_t watches() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace edge::kube
