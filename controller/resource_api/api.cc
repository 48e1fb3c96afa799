#include "controller/resource_api/api.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "controller/resource_api/builtin_kinds.h"
#include "controller/resource_api/first_start.h"
#include "controller/resource_api/registry.h"
#include "controller/resource_api/requests/read.h"
#include "controller/resource_api/requests/remove.h"
#include "controller/resource_api/requests/render.h"
#include "controller/resource_api/requests/request.h"
#include "controller/resource_api/requests/watch.h"
#include "controller/resource_api/requests/write.h"
#include "controller/resource_api/storage/changes.h"
#include "controller/resource_api/storage/expiry.h"
#include "controller/resource_api/storage/garbage.h"

namespace edge::resource_api {
namespace {

std::int64_t system_milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Locks the data directory while it is in use.
class Lock {
 public:
  static Result<Lock> take(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return Error{ErrorCode::kUnavailable, path + ": " + std::strerror(errno)};
    Lock lock(file);
    if (flock(file, LOCK_EX | LOCK_NB) == 0) return lock;
    return Error{ErrorCode::kAborted,
                 path + ": another process serves from this directory; stop it, or name another --data-dir"};
  }
  Lock(Lock&& other) noexcept : file_(std::exchange(other.file_, -1)) {}
  Lock& operator=(Lock&&) = delete;
  ~Lock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  explicit Lock(int file) : file_(file) {}
  int file_;
};

objects::StatusError storage_error(const Error& error) {
  if (error.code == ErrorCode::kUnavailable) {
    objects::StatusError status = objects::unavailable("the store cannot be written: " + error.text);
    status.retry_after_seconds = 1;
    return status;
  }
  return objects::internal_error("the store cannot be written: " + error.text);
}

}  // namespace

struct Api::State {
  State(ApiOptions options_in, Lock lock_in, std::unique_ptr<Store> store_in)
      : options(std::move(options_in)),
        lock(std::move(lock_in)),
        store(std::move(store_in)),
        watches(*store, options.limits.watches, options.now, options.log),
        changes(*store, registry, watches, options.now),
        garbage(changes),
        expiry(changes),
        writer(changes, options.limits),
        remover(changes, options.limits) {}

  ApiReply answer(const ApiRequest& request);
  ApiReply dispatch(const Operation& op, const ApiRequest& request);
  Status commit();
  template <typename Work>
  bool guarded(const std::string& what, const Work& work);

  ApiOptions options;
  bool began_empty = false;
  Lock lock;
  std::unique_ptr<Store> store;
  Registry registry;
  Watches watches;
  Changes changes;
  Garbage garbage;
  EventExpiry expiry;
  Writer writer;
  Remover remover;
};

ApiReply Api::State::dispatch(const Operation& op, const ApiRequest& request) {
  const std::int64_t seconds = options.now() / 1000;
  switch (op.verb) {
    case Verb::kGet:
      return get(*store, op, seconds);
    case Verb::kList:
      return list(*store, op, options.limits, seconds);
    case Verb::kWatch:
      return watches.open(op, store->collection(op.type->collection));
    case Verb::kCreate:
      return writer.create(op, request);
    case Verb::kUpdate:
      return writer.update(op, request);
    case Verb::kPatch:
      return writer.patch(op, request);
    case Verb::kDelete:
      return remover.remove(op, request);
    case Verb::kDeleteCollection:
      return remover.remove_collection(op, request);
  }
  return reply_of(objects::path_not_found());
}

/// The JSON library throws where a value has another type than it is used as. Validation comes before use, so that none
/// is expected; one that comes all the same is one request's fault, and changes are staged last.
template <typename Work>
bool Api::State::guarded(const std::string& what, const Work& work) {
  try {
    work();
    return true;
  } catch (const std::exception& fault) {
    options.log.error("resource api: a request failed", {{"request", what}, {"reason", fault.what()}});
    return false;
  }
}

ApiReply Api::State::answer(const ApiRequest& request) {
  if (request.body.size() > options.limits.request_bytes) {
    return reply_of(
        objects::too_large("Request entity too large: limit is " + std::to_string(options.limits.request_bytes)));
  }
  const auto op = read_operation(request, registry);
  if (!op) return reply_of(op.error());
  ApiReply reply;
  if (!guarded(request.method + " of " + op->type->plural, [&] { reply = dispatch(*op, request); })) {
    return reply_of(objects::internal_error("the request could not be worked on"));
  }
  return reply;
}

Status Api::State::commit() {
  if (!store->staged()) return {};
  auto committed = store->commit();
  if (!committed) {
    changes.rebuild_registry();
    options.log.error("resource api: changes are refused", {{"reason", committed.error().text}});
    return committed.error();
  }
  changes.show_defaults(*committed);
  garbage.note(*committed);
  watches.wake(*committed);
  return {};
}

Api::Api(std::unique_ptr<State> state) : state_(std::move(state)) {}
Api::~Api() = default;

Result<std::unique_ptr<Api>> Api::open(ApiOptions options) {
  if (!options.now) options.now = system_milliseconds;
  if (::mkdir(options.data_dir.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{ErrorCode::kUnavailable, options.data_dir + ": " + std::strerror(errno)};
  }
  auto lock = Lock::take(options.data_dir + "/resources.lock");
  if (!lock) return lock.error();
  const HistoryLimits history{options.limits.history_events, options.limits.history_bytes};
  auto store = Store::open(options.data_dir + "/resources.db", history, options.log);
  if (!store) return store.error();
  auto state = std::make_unique<State>(std::move(options), std::move(*lock), std::move(*store));
  state->changes.rebuild_registry();
  state->changes.show_defaults();
  state->began_empty = state->store->object_count() == 0;
  auto api = std::unique_ptr<Api>(new Api(std::move(state)));
  const OwnKinds own = api->state_->options.own_kinds ? OwnKinds::kInstalled : OwnKinds::kLeft;
  if (Status status = install_first_objects(*api, own); !status) return status.error();
  api->state_->garbage.begin();
  return api;
}

ApiReply Api::handle(const ApiRequest& request) { return std::move(handle_all({&request, 1}).front()); }

std::vector<ApiReply> Api::handle_all(std::span<const ApiRequest> requests) {
  std::vector<ApiReply> replies;
  replies.reserve(requests.size());
  // What a request has seen may not become durable; from the first change on, all share its fate.
  std::size_t first_change = requests.size();
  for (const ApiRequest& request : requests) {
    replies.push_back(state_->answer(request));
    if (state_->store->staged() && first_change == requests.size()) first_change = replies.size() - 1;
  }
  if (const Status status = state_->commit(); !status) {
    for (std::size_t i = first_change; i < replies.size(); ++i) replies[i] = reply_of(storage_error(status.error()));
  }
  return replies;
}

std::chrono::milliseconds Api::work() {
  std::chrono::milliseconds expiry = std::chrono::seconds(1);
  state_->guarded("garbage", [&] { state_->garbage.work(); });
  state_->guarded("expiry of events", [&] { expiry = state_->expiry.work(); });
  // What could not be written is looked for again by the next change or start.
  const Status status = state_->commit();
  const std::chrono::milliseconds next = std::min(expiry, state_->watches.work());
  if (!status) {
    state_->garbage.begin();
    return std::chrono::seconds(1);
  }
  return state_->garbage.idle() ? next : std::chrono::milliseconds(0);
}

const Registry& Api::registry() const { return state_->registry; }
bool Api::began_empty() const { return state_->began_empty; }
std::int64_t Api::resource_version() const { return state_->store->version(); }

}  // namespace edge::resource_api
