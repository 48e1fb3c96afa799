// Records events, as shown by `kubectl describe`: few, with repetitions counted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "controller/kube/client.h"

namespace edge::kube {

/// The object of an event.
struct Regarding {
  std::string api_version, kind, name_space, name, uid;
};

struct RecorderOptions {
  std::string component = "edge-controller";
  /// Host or pod.
  std::string instance{};
  /// Per object: so many at once, then one per `interval`.
  unsigned burst = 25;
  net::Duration interval = std::chrono::minutes(5);
  /// An equal event for the same object within this time is counted, not sent again.
  net::Duration same_within = std::chrono::minutes(10);
  std::size_t max_waiting = 512;
  std::size_t max_known = 4096;
  std::function<std::chrono::system_clock::time_point()> wall{};
};

enum class EventLevel : std::uint8_t { kNormal, kWarning };

/// Of the core group, as events.k8s.io has its objects, too.
const Resource& event_resource();

/// For the client's loop. An event that cannot be delivered is dropped and counted.
class Recorder {
 public:
  Recorder(Client& client, RecorderOptions options = {});
  /// Drops pending events.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  /// Records an event. `reason`: one word in CamelCase; `message`: for users, cut at 1024 bytes. Never blocks. `done`
  /// is called once it was sent, counted with one that waits, or dropped, perhaps before this returns; not by a
  /// recorder that is gone.
  void record(const Regarding& regarding, EventLevel level, std::string reason, std::string message,
              std::function<void()> done = {});
  std::uint64_t sent() const;
  std::uint64_t dropped() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace edge::kube
