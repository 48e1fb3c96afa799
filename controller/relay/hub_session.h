// A relay's connection to its hub: the client's end of schemas/relay.proto over gRPC.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "controller/authority/remote_identity.h"

namespace edge::relay::v1 {
class ProgramsUp;
class ProgramsDown;
class ValuesUp;
class ValuesDown;
class AgentsUp;
class AgentsDown;
}  // namespace edge::relay::v1

namespace edge::controller::relay {

namespace v1 = edge::relay::v1;

/// Called on the session's threads, one for each stream: who blocks there holds that stream alone. False: the session
/// is to end.
struct HubSessionEvents {
  std::function<bool(v1::ProgramsDown& down)> programs;
  std::function<bool(v1::ValuesDown& down)> values;
  std::function<bool(const v1::AgentsDown& down)> agents;
  /// A stream has ended, or could not be opened. Perhaps more than once.
  std::function<void(const Error& why)> ended;
};

/// The functions that say something are for one thread a stream, and block while the hub takes nothing.
class HubSession {
 public:
  /// Connects, and opens the stream of programs.
  static Result<std::unique_ptr<HubSession>> open(const RemoteIdentity& identity, HubSessionEvents events);
  /// Breaks off what is under way, and waits for the threads.
  ~HubSession();
  HubSession(const HubSession&) = delete;
  HubSession& operator=(const HubSession&) = delete;

  /// After the welcome.
  void open_others();
  /// False: the stream has ended.
  bool say(const v1::ProgramsUp& up);
  bool say(const v1::ValuesUp& up);
  bool say(const v1::AgentsUp& up);
  /// Makes every call fail soon. From any thread.
  void cancel();

 private:
  struct Impl;
  explicit HubSession(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::controller::relay
