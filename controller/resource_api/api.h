// The embedded resource API without its transport: requests as Kubernetes writes them in, answers out. Whoever speaks
// HTTP (resource_api/http) or tests calls `handle`; objects live in a Store (store.h), what exists is said by the
// Registry (registry.h), what is right by resource_api/objects.
//
// It is the default of one machine. Several machines use Kubernetes, by the same clients.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/result.h"

namespace edge::resource_api {

class Registry;

/// Who asks, as authentication found it. What it may do has been decided before `handle`.
struct User {
  std::string name;
  std::vector<std::string> groups;
};

struct ApiRequest {
  std::string method = "GET";
  /// Percent-decoded, without the query: `/apis/apps/v1/namespaces/default/deployments/web`.
  std::string path;
  /// Percent-decoded, in order.
  std::vector<std::pair<std::string, std::string>> query;
  std::string content_type;
  std::string accept;
  std::string body;
  User user;
  std::string user_agent;
};

/// The events of one watch, as the bytes of the answer's body: one JSON text a line. Used on the Api's thread alone; it
/// may outlive the Api, and then ends. Destroying it ends the watch.
///
/// It holds a place in the history of its resource and no events, so a client that reads slowly costs nothing; one that
/// falls out of the history gets an ERROR event 410 and the end.
class WatchStream {
 public:
  enum class Next : std::uint8_t {
    kMore,        ///< something was appended; ask again
    kNothingYet,  ///< `on_ready`'s callback will be called once there may be more
    kEnd,         ///< the answer is complete
  };

  WatchStream() = default;
  WatchStream(const WatchStream&) = delete;
  WatchStream& operator=(const WatchStream&) = delete;
  virtual ~WatchStream() = default;

  /// Appends up to about 64 KiB of whole events to `out`.
  virtual Next next(std::string& out) = 0;
  /// `ready` is called from within `handle` or `work`, after a `next` that gave kNothingYet. It must not call the Api
  /// or `next`: it notes that there is something to do.
  virtual void on_ready(std::function<void()> ready) = 0;
};

struct ApiReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  /// Set for a watch that was accepted: the body is what it gives, until it ends. `body` is empty then.
  std::unique_ptr<WatchStream> watch{};
  /// Further fields: Warning, Retry-After, Allow.
  std::vector<std::pair<std::string, std::string>> fields{};
};

/// What bounds the API. The defaults suit one machine with some ten thousand objects.
struct ApiLimits {
  std::size_t request_bytes = std::size_t{3} << 20;
  std::size_t object_bytes = std::size_t{3} << 19;
  std::size_t objects = 200'000;
  std::size_t watches = 4096;
  /// Of one answer; a list that would be longer gets 413.
  std::size_t list_bytes = std::size_t{256} << 20;
  std::size_t history_events = 8192;                  ///< a resource
  std::size_t history_bytes = std::size_t{16} << 20;  ///< a resource
};

struct ApiOptions {
  /// Made where it is missing (0700); holds `resources.db`. One process at a time.
  std::string data_dir;
  ApiLimits limits{};
  /// Our own CustomResourceDefinitions are there, as this version has them.
  bool own_kinds = true;
  /// Wall clock, milliseconds since 1970.
  std::function<std::int64_t()> now{};
  /// Told once a fact that an operator should read: a database that is not to be written, an object that is no JSON.
  Logger log{};
};

/// One thread, that of the API's loop. Disk writes are made on it: an acknowledged write survives a crash.
class Api {
 public:
  /// kFailedPrecondition: another process has the data dir, or the database is a newer version's. kDataLoss: it is
  /// damaged. At the first start installs the namespaces and our own CRDs.
  static Result<std::unique_ptr<Api>> open(ApiOptions options);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  /// Answers every request: what is wrong with it is said by a metav1.Status.
  ApiReply handle(const ApiRequest& request);
  /// The same for what has come in one turn of the loop; writes share one transaction, and so one wait for the disk.
  /// A later request sees what the former ones did.
  std::vector<ApiReply> handle_all(std::span<const ApiRequest> requests);

  /// Does a bounded piece of what is due: garbage, namespaces that go, bookmarks, watches at their timeout. To be
  /// called after each turn with requests and when the time given back has passed.
  std::chrono::milliseconds work();

  /// What exists now. Discovery and OpenAPI are functions of it.
  const Registry& registry() const;
  /// Nothing was there when it was opened: a first start, or the database was lost.
  bool began_empty() const;
  /// The newest resource version; lists and `/readyz` may tell it.
  std::int64_t resource_version() const;

 private:
  struct State;
  explicit Api(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace edge::resource_api
