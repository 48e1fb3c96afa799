// The embedded resource API without its transport: takes requests as defined by Kubernetes, returns replies. The HTTP
// server (resource_api/http) and tests call `handle`; objects are in a Store (store.h), kinds in the Registry
// (registry.h), validation in resource_api/objects.
//
// It is the default for a single machine. Several machines use Kubernetes, with the same clients.
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

/// The authenticated user. Authorization takes place before `handle`.
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

/// The events of one watch, as bytes of the response body: one JSON text per line. For the Api's thread only; may
/// outlive the Api, and then ends. Its destruction ends the watch.
///
/// It stores a position in the history of its resource and no events, so that a slow client costs nothing; one that
/// falls behind the history gets an ERROR event 410 and the end.
class WatchStream {
 public:
  enum class Next : std::uint8_t {
    kMore,        ///< something was appended; call again
    kNothingYet,  ///< `on_ready`'s callback is called once there may be more
    kEnd,         ///< the response is complete
  };

  WatchStream() = default;
  WatchStream(const WatchStream&) = delete;
  WatchStream& operator=(const WatchStream&) = delete;
  virtual ~WatchStream() = default;

  /// Appends up to about 64 KiB of complete events to `out`.
  virtual Next next(std::string& out) = 0;
  /// Sets the callback, called from within `handle` or `work`, after a `next` that returned kNothingYet. It must not
  /// call the Api or `next`, only schedule work.
  virtual void on_ready(std::function<void()> ready) = 0;
};

struct ApiReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  /// Set for an accepted watch: its output is the body, until it ends. `body` is empty then.
  std::unique_ptr<WatchStream> watch{};
  /// Further fields: Warning, Retry-After, Allow.
  std::vector<std::pair<std::string, std::string>> fields{};
};

/// Limits of the API. The defaults suit one machine with some ten thousand objects.
struct ApiLimits {
  std::size_t request_bytes = std::size_t{3} << 20;
  std::size_t object_bytes = std::size_t{3} << 19;
  std::size_t objects = 200'000;
  std::size_t watches = 4096;
  /// Of one response; a longer list gets 413.
  std::size_t list_bytes = std::size_t{256} << 20;
  std::size_t history_events = 8192;                  ///< per resource
  std::size_t history_bytes = std::size_t{16} << 20;  ///< per resource
};

struct ApiOptions {
  /// Created when missing (0700); contains `resources.db`. For one process at a time.
  std::string data_dir;
  ApiLimits limits{};
  /// Installs the CustomResourceDefinitions of this version.
  bool own_kinds = true;
  /// Wall clock, milliseconds since 1970.
  std::function<std::int64_t()> now{};
  /// Gets messages for the operator: a database that cannot be written, an object that is not JSON.
  Logger log{};
};

/// For one thread, that of the API's loop. Disk writes are made on it: an acknowledged write survives a crash.
class Api {
 public:
  /// kAborted: another process uses the data directory. kFailedPrecondition: the database is from a newer version.
  /// kDataLoss: it is damaged. The first start installs the namespaces and this version's CRDs.
  static Result<std::unique_ptr<Api>> open(ApiOptions options);
  ~Api();
  Api(const Api&) = delete;
  Api& operator=(const Api&) = delete;

  /// Answers a request; errors are returned as a metav1.Status.
  ApiReply handle(const ApiRequest& request);
  /// The same for all requests of one turn of the loop; writes share one transaction, and so one disk sync. A later
  /// request sees the effects of earlier ones.
  std::vector<ApiReply> handle_all(std::span<const ApiRequest> requests);

  /// Does a bounded amount of background work: garbage collection, namespace deletion, bookmarks, watch timeouts. To be
  /// called after each turn with requests and after the returned time.
  std::chrono::milliseconds work();

  /// Returns the current kinds, from which discovery and OpenAPI are generated.
  const Registry& registry() const;
  /// Returns whether the database was empty when opened: a first start, or the database was lost.
  bool began_empty() const;
  /// Returns the newest resource version, for lists and `/readyz`.
  std::int64_t resource_version() const;

 private:
  struct State;
  explicit Api(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace edge::resource_api
