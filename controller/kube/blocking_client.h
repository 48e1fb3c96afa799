// The client for programs that do one thing after the other: the same calls, each waiting for its end. It has a loop
// and a thread of its own, or is given a loop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "controller/kube/client.h"
#include "controller/kube/discovery.h"

namespace edge::kube {

/// Threads: any.
class BlockingClient {
 public:
  /// `loop`: one that runs as long as the client is there, in whose thread nobody waits for the client; null: it has
  /// one of its own, with a thread.
  static Result<std::unique_ptr<BlockingClient>> make(Config config, ClientOptions options = {},
                                                      net::Loop* loop = nullptr);
  /// Breaks off what is under way.
  ~BlockingClient();
  BlockingClient(const BlockingClient&) = delete;
  BlockingClient& operator=(const BlockingClient&) = delete;

  const Config& config() const;

  Reply send(Request request);
  ObjectReply get(const Resource& resource, const std::string& name_space, const std::string& name);
  ListReply list(const Resource& resource, const ListOptions& options);
  ListReply list_all(const Resource& resource, const ListOptions& options);
  ObjectReply create(const Resource& resource, const std::string& name_space, const std::string& object,
                     const WriteOptions& options = {});
  ObjectReply update(const Resource& resource, const std::string& name_space, const std::string& name,
                     const std::string& object, const WriteOptions& options = {});
  ObjectReply patch(const Resource& resource, const std::string& name_space, const std::string& name, PatchType type,
                    const std::string& patch, const WriteOptions& options = {});
  Reply remove(const Resource& resource, const std::string& name_space, const std::string& name,
               const DeleteOptions& options = {});
  Reply remove_all(const Resource& resource, const ListOptions& which, const DeleteOptions& options = {});

  DiscoveryReply discover();
  /// The resource table is fetched at the first call, and again when the word is not in it.
  Discovery::Found find(const std::string& word);
  Discovery::Found find_kind(const std::string& api_version, const std::string& kind);

  /// Calls `each` for every event until it returns false, `until` has passed, the server ends the watch or an error
  /// occurs. An empty failure: `each` or the server ended it. `each` is called on the client's own thread.
  Failure watch(const Resource& resource, const WatchOptions& options, net::Time until,
                const std::function<bool(const WatchEvent& event)>& each);

 private:
  struct State;
  explicit BlockingClient(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace edge::kube
