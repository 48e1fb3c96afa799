// Frames between this cluster and others, whichever of both has connected: what federation is carried by. A frame is
// bytes, in order, at most 1 MiB. Nothing is kept over the end of a connection: who sends has to know what arrived.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"

namespace edge::controller::remote {

struct TunnelPeer {
  std::string name;         ///< of the EdgeRemoteCluster, at the hub; of the hub's address, at the spoke
  std::string cluster_uid;  ///< of the peer
  bool is_hub = false;      ///< the peer is our hub
};

/// Called on any thread, of one peer one after the other; must not block.
struct TunnelEvents {
  std::function<void(const TunnelPeer& peer)> opened;
  std::function<void(const std::string& cluster_uid)> closed;
  /// The peer's next frame comes after `done`, which may be called later and from any thread; an error ends the tunnel.
  std::function<void(const std::string& cluster_uid, std::string frame, std::function<void(Status)> done)> received;
};

class Tunnel {
 public:
  virtual ~Tunnel() = default;
  /// False: the peer is not connected, the frame is too large, or too much waits already (4 MiB).
  virtual bool send(const std::string& cluster_uid, std::string frame) = 0;
};

/// The stream to one peer.
class FrameStream {
 public:
  virtual ~FrameStream() = default;
  virtual bool send(std::string frame) = 0;
  virtual void end(const Error& why) = 0;
};

/// Thread-safe.
class Tunnels final : public Tunnel {
 public:
  /// Who takes what comes; without it peers are refused. `events` without functions: nobody does any more.
  void set_events(TunnelEvents events);
  bool is_wanted() const;
  bool send(const std::string& cluster_uid, std::string frame) override;

  // Streams.
  /// A newer stream of a peer ends the older. kUnimplemented: nobody takes frames.
  Status enter(const TunnelPeer& peer, const std::shared_ptr<FrameStream>& stream);
  void left(const std::string& cluster_uid, const FrameStream& stream);
  void take(const FrameStream& stream, const std::string& cluster_uid, std::string frame,
            std::function<void(Status)> done);
  /// Ends the peer's stream, if there is one.
  void end(const std::string& cluster_uid, const Error& why);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const TunnelEvents> events_;  ///< null: nobody
  std::map<std::string, std::shared_ptr<FrameStream>> streams_;
};

}  // namespace edge::controller::remote
