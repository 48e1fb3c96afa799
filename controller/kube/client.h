// Client for the Kubernetes API and the embedded one: objects are JSON text, calls are coroutines on the caller's loop.
// Blocking calls are in blocking_client.h, watching a kind in informer.h, names in discovery.h.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controller/kube/config.h"
#include "controller/kube/failure.h"
#include "controller/kube/object.h"
#include "controller/kube/resource.h"
#include "net/loop.h"
#include "net/task.h"

namespace edge::kube {

struct Request {
  std::string method = "GET";
  /// Path and query, as made by path_of and Query; the path of the server's URL is prepended.
  std::string target;
  /// Empty: JSON, where there is a body.
  std::string content_type{};
  std::string accept = "application/json";
  std::string body{};
  /// For the whole call, including retries. 0: the client's.
  net::Duration timeout{};
};

struct Reply {
  Failure failure{.kind = Failure::Kind::kCancelled};
  int http = 0;
  std::string content_type{};
  std::string body{};
  /// Texts of Warning fields (RFC 9111 §5.5 as used by Kubernetes).
  std::vector<std::string> warnings{};

  bool ok() const { return failure.none(); }
};

/// An object, or the failure.
struct ObjectReply {
  Failure failure{.kind = Failure::Kind::kCancelled};
  Object object{};
  std::vector<std::string> warnings{};
  bool ok() const { return failure.none(); }
};

struct ListReply {
  Failure failure{.kind = Failure::Kind::kCancelled};
  List list{};
  bool ok() const { return failure.none(); }
};

enum class PatchType : std::uint8_t { kJson, kMerge, kStrategic, kApply };
/// `application/merge-patch+json` and so on.
std::string_view content_type_of(PatchType type);

struct WriteOptions {
  std::string field_manager = "edge-controller";
  /// For an apply: takes fields from other managers.
  bool force = false;
  bool dry_run = false;
  /// Strict, Warn or Ignore; empty: the server's default.
  std::string field_validation{};
  /// `status`, or empty.
  std::string subresource{};
};

struct ListOptions {
  std::string name_space{};
  std::string label_selector{};
  std::string field_selector{};
  /// For one page.
  unsigned limit = 500;
  std::string next{};
  ObjectReading reading{};
};

struct DeleteOptions {
  /// Background, Foreground, Orphan; empty: the server's default.
  std::string propagation{};
  /// -1: the server's default.
  int grace_seconds = -1;
  bool dry_run = false;
  /// Preconditions.
  std::string uid{}, resource_version{};
};

struct WatchOptions {
  std::string name_space{};
  std::string label_selector{};
  std::string field_selector{};
  /// Starts after this version; empty: any state, beginning with the existing objects.
  std::string resource_version{};
  bool bookmarks = true;
  /// After which the server ends the watch.
  std::chrono::seconds lifetime = std::chrono::minutes(5);
  ObjectReading reading{};
};

struct ClientOptions {
  std::string user_agent = "edge-proxy/" EDGE_VERSION;
  net::Duration timeout = std::chrono::seconds(30);
  /// Retries of a call that can be repeated: nothing was sent, or it changes nothing, or the server asks for it.
  int tries = 2;
  std::size_t max_body = std::size_t{64} << 20;   ///< of one response
  std::size_t max_frame = std::size_t{16} << 20;  ///< of one event of a watch
  /// In place of the network, where the API is reached by other means; called on the loop's thread, which it may block.
  /// Nothing can be watched then.
  std::function<Reply(const Request&)> instead{};
  /// Credential plugins may prompt the user; else those that require it are not run.
  bool terminal = false;
};

/// Events of one watch, in order. Ends when the server ends it, or with a failure.
class Watch {
 public:
  struct Next {
    enum class Kind : std::uint8_t { kEvent, kEnd, kFailed };
    Kind kind = Kind::kEnd;
    WatchEvent event{};
    Failure failure{};
  };

  Watch();
  Watch(Watch&&) noexcept;
  Watch& operator=(Watch&&) noexcept;
  /// Closes the connection when the watch has not ended.
  ~Watch();

  /// Returns why no event can be read.
  const Failure& failure() const { return failure_; }
  bool ok() const { return failure_.none(); }
  /// Returns the next event; kTimeout in `failure` when none came until then; may be called again. Frames are read from
  /// the connection on demand: a caller that does not ask slows the server down.
  net::Task<Next> next(net::Waiter& waiter, net::Time until);
  /// Whether another event has been received already.
  bool has_more() const;

 private:
  friend class Client;
  struct State;
  Failure failure_{.kind = Failure::Kind::kCancelled};
  std::unique_ptr<State> state_;
};

/// For the thread of `loop`. A call is ended early by cancelling its waiter.
class Client {
 public:
  /// Fails when keys or CAs are unusable.
  static Result<std::unique_ptr<Client>> make(net::Loop& loop, Config config, ClientOptions options = {});
  /// No call may be in progress.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Config& config() const;
  net::Loop& loop() const;

  /// Sends any request; the other calls are built on it.
  net::Task<Reply> send(net::Waiter& waiter, Request request);

  net::Task<ObjectReply> get(net::Waiter& waiter, Resource resource, std::string name_space, std::string name);
  /// Returns one page; `list.next` continues.
  net::Task<ListReply> list(net::Waiter& waiter, Resource resource, ListOptions options);
  /// Returns all pages; restarts once when the continuation expires.
  net::Task<ListReply> list_all(net::Waiter& waiter, Resource resource, ListOptions options);
  net::Task<ObjectReply> create(net::Waiter& waiter, Resource resource, std::string name_space, std::string object,
                                WriteOptions options = {});
  /// Uses the resourceVersion in `object`: fails with a conflict when the object was changed meanwhile.
  net::Task<ObjectReply> update(net::Waiter& waiter, Resource resource, std::string name_space, std::string name,
                                std::string object, WriteOptions options = {});
  net::Task<ObjectReply> patch(net::Waiter& waiter, Resource resource, std::string name_space, std::string name,
                               PatchType type, std::string patch, WriteOptions options = {});
  /// Returns the answer: the object, which may still have finalizers, or a metav1.Status.
  net::Task<Reply> remove(net::Waiter& waiter, Resource resource, std::string name_space, std::string name,
                          DeleteOptions options = {});
  net::Task<Reply> remove_all(net::Waiter& waiter, Resource resource, ListOptions which, DeleteOptions options = {});

  /// Completes once the server has accepted the watch, which must end before the client does.
  net::Task<Watch> watch(net::Waiter& waiter, Resource resource, WatchOptions options);

 private:
  friend class Watch;
  struct State;
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace edge::kube
