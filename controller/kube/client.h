// The Kubernetes API as we call it, the embedded one by the same code: objects are JSON text, calls are coroutines on
// the caller's loop. Blocking calls are blocking_client.h, following a kind is informer.h, names are discovery.h.
#pragma once

#include <chrono>
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
  /// Path and query, as path_of and Query make them; what the server's URL has before it is added.
  std::string target;
  /// Empty: JSON, where there is a body.
  std::string content_type{};
  std::string accept = "application/json";
  std::string body{};
  /// Of the whole call, repetitions included. 0: the client's.
  net::Duration timeout{};
};

struct Reply {
  Failure failure{.kind = Failure::Kind::kCancelled};
  int http = 0;
  std::string content_type{};
  std::string body{};
  /// Texts of Warning fields (RFC 9111 §5.5 as Kubernetes uses it).
  std::vector<std::string> warnings{};

  bool ok() const { return failure.none(); }
};

/// An object, or why there is none.
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
  /// Of an apply: takes fields from other managers.
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
  /// Of one page.
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
  /// Events after it; empty: from any state, beginning with what is there.
  std::string resource_version{};
  bool bookmarks = true;
  /// After which the server ends it.
  std::chrono::seconds lifetime = std::chrono::minutes(5);
  ObjectReading reading{};
};

struct ClientOptions {
  std::string user_agent = "edge-proxy/" EDGE_VERSION;
  net::Duration timeout = std::chrono::seconds(30);
  /// Further tries of a call that may be repeated: nothing was sent, or it changes nothing, or the server asks for it.
  int tries = 2;
  std::size_t max_body = std::size_t{64} << 20;   ///< of one answer
  std::size_t max_frame = std::size_t{16} << 20;  ///< of one event of a watch
  /// Plugins for credentials may ask the user something; else those that must are refused.
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
  /// Breaks the connection off when the watch has not ended.
  ~Watch();

  /// Why there is none to be read.
  const Failure& failure() const { return failure_; }
  bool ok() const { return failure_.none(); }
  /// kTimeout in `failure` when nothing came until then; it may be called again. A frame is taken from the connection
  /// when it is asked for: who does not ask slows the server down.
  net::Task<Next> next(net::Waiter& waiter, net::Time until);
  /// Another event has been received already.
  bool has_more() const;

 private:
  friend class Client;
  struct State;
  Failure failure_{.kind = Failure::Kind::kCancelled};
  std::unique_ptr<State> state_;
};

/// Every function on the thread of `loop`. A call is ended early by cancelling its waiter.
class Client {
 public:
  /// Fails where keys or authorities cannot be used.
  static Result<std::unique_ptr<Client>> make(net::Loop& loop, Config config, ClientOptions options = {});
  /// No call may be under way.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Config& config() const;
  net::Loop& loop() const;

  /// Any call; the others are made of it.
  net::Task<Reply> send(net::Waiter& waiter, Request request);

  net::Task<ObjectReply> get(net::Waiter& waiter, Resource resource, std::string name_space, std::string name);
  /// One page; `list.next` leads to the one after it.
  net::Task<ListReply> list(net::Waiter& waiter, Resource resource, ListOptions options);
  /// All pages, begun anew once when they get too old on the way.
  net::Task<ListReply> list_all(net::Waiter& waiter, Resource resource, ListOptions options);
  net::Task<ObjectReply> create(net::Waiter& waiter, Resource resource, std::string name_space, std::string object,
                                WriteOptions options = {});
  /// By the resourceVersion in `object`: a conflict when somebody else was quicker.
  net::Task<ObjectReply> update(net::Waiter& waiter, Resource resource, std::string name_space, std::string name,
                                std::string object, WriteOptions options = {});
  net::Task<ObjectReply> patch(net::Waiter& waiter, Resource resource, std::string name_space, std::string name,
                               PatchType type, std::string patch, WriteOptions options = {});
  /// What is answered: the object, which may go on for its finalizers, or a metav1.Status.
  net::Task<Reply> remove(net::Waiter& waiter, Resource resource, std::string name_space, std::string name,
                          DeleteOptions options = {});
  net::Task<Reply> remove_all(net::Waiter& waiter, Resource resource, ListOptions which, DeleteOptions options = {});

  /// Ready once the server has agreed. Must end before the client does.
  net::Task<Watch> watch(net::Waiter& waiter, Resource resource, WatchOptions options);

 private:
  friend class Watch;
  struct State;
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace edge::kube
