// Tracks all objects of a kind: a list, then a watch, resumed where it ended, with a new list when that fails. Each
// change is reported once, in the order of each object's history; the caller stores the objects, the informer only
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
  /// A watch is restarted after a random time between this and its double.
  std::chrono::seconds lifetime = std::chrono::minutes(5);
  /// In [0, 1); for tests. Null: random.
  std::function<double()> random{};
};

/// Called on the loop's thread, one at a time. None may destroy the informer; all may call `stop`.
struct InformerEvents {
  /// A new or changed object.
  std::function<void(Object object)> changed;
  std::function<void(const std::string& key)> removed;
  /// The first list has been reported completely. Called once.
  std::function<void()> synced;
  /// The server became reachable or unreachable: `failure` says why. Called on changes, and at the first attempt.
  std::function<void(bool connected, const Failure& failure)> connection;
};

/// For the client's loop.
class Informer {
 public:
  /// Does nothing before `start`.
  Informer(Client& client, Resource resource, InformerOptions options, InformerEvents events);
  /// Stops.
  ~Informer();
  Informer(const Informer&) = delete;
  Informer& operator=(const Informer&) = delete;

  void start();
  /// No event is reported after it.
  void stop();

  const Resource& resource() const;
  bool synced() const;
  bool connected() const;
  /// Returns the number of objects.
  std::size_t size() const;
  /// Returns the resourceVersion up to which everything has been reported, from the last list or event. Empty: none
  /// yet.
  const std::string& version() const;
  bool knows(const std::string& key) const;
  /// Reads an object anew and reports it as changed, trying until it is answered; nothing where it is gone, or where
  /// the watch brings another version.
  void read_again(const std::string& name_space, const std::string& name);
  /// Returns the number of lists so far.
  std::uint64_t lists() const;
  std::uint64_t watches() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace edge::kube
