// A connection to a hub: the client's end of schemas/remote.proto over gRPC.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "controller/authority/remote_identity.h"
#include "controller/distribute/agent_answer.h"
#include "controller/remote/tunnel.h"
#include "controller/remote/words.h"

namespace edge::controller::remote {

/// Called on threads of gRPC.
struct HubStreamEvents {
  std::function<void(const Word& word)> heard;
  /// Nothing comes any more. Once.
  std::function<void(const Error& why)> ended;
};

/// Thread-safe.
class HubChannel {
 public:
  /// Connects to `identity.hub`, as `identity` says who we are.
  explicit HubChannel(const RemoteIdentity& identity);
  ~HubChannel();
  HubChannel(const HubChannel&) = delete;
  HubChannel& operator=(const HubChannel&) = delete;

  /// Waits until there is a connection, at most a few seconds, or `stopped` says true.
  Status await(const std::function<bool()>& stopped);
  /// Returns a certificate for `request`, and whom to believe. Blocks for seconds at most.
  struct Renewed {
    std::string certificate, authorities;
  };
  Result<Renewed> renew(const std::string& request);
  /// The same for traffic between clusters. kUnimplemented: the hub is older.
  Result<Renewed> renew_traffic(const std::string& request);
  /// Opens the stream. To be closed before the channel goes.
  void open(HubStreamEvents events);
  void say(const std::vector<Word>& words);
  /// Opens a tunnel beside the stream, or opens it again when it has ended; nothing otherwise.
  void keep_tunnel(Tunnels& tunnels, const TunnelPeer& hub);
  /// The same for a stream of the hub's questions. `answer` is called on a thread of its own, one after the other.
  void keep_questions(const std::function<AgentAnswer(const AgentQuestion&)>& answer);
  /// Ends the streams, and waits until no event is called any more. What was said before is sent, if that takes no
  /// time.
  void close();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace edge::controller::remote
