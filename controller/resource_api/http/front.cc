#include "controller/resource_api/http/front.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "base/text/ascii.h"
#include "controller/resource_api/http/documents.h"
#include "controller/resource_api/http/kubernetes_protobuf.h"
#include "controller/resource_api/http/reviews.h"
#include "controller/resource_api/objects/status.h"
#include "controller/resource_api/requests/request.h"

namespace edge::resource_api::http {
namespace {

using net::server::BodySource;
using net::server::Reply;
using net::server::Request;

/// Smaller answers are bounded by the number of requests that may be under way.
constexpr std::size_t kLargeAnswer = std::size_t{4} << 20;
constexpr std::size_t kPiece = std::size_t{256} << 10;
/// Lines about refusals: strangers must not fill an operator's disk, nor hide what else is logged.
constexpr std::size_t kRefusalsTold = 20;
constexpr auto kRefusalsToldIn = std::chrono::seconds(1);

Reply reply_of(const objects::StatusError& error) {
  Reply reply{.status = error.code, .content_type = std::string(kJsonType), .body = error.text()};
  if (error.retry_after_seconds > 0)
    reply.fields.emplace_back("Retry-After", std::to_string(error.retry_after_seconds));
  if (error.code == 401) reply.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"edge-proxy\"");
  return reply;
}

class Watch final : public BodySource {
 public:
  explicit Watch(std::unique_ptr<WatchStream> stream) : stream_(std::move(stream)) {}
  /// Before anything else is told: whether who watches is still somebody.
  void guard(std::function<bool()> still_known) { still_known_ = std::move(still_known); }
  Next next(std::string& out) override {
    if (still_known_ && !still_known_()) return Next::kEnd;
    switch (stream_->next(out)) {
      case WatchStream::Next::kMore:
        return Next::kMore;
      case WatchStream::Next::kNothingYet:
        return Next::kNothingYet;
      case WatchStream::Next::kEnd:
        break;
    }
    return Next::kEnd;
  }
  void on_ready(std::function<void()> ready) override { stream_->on_ready(std::move(ready)); }

 private:
  std::unique_ptr<WatchStream> stream_;
  std::function<bool()> still_known_;
};

/// A response body that is sent as fast as the client reads it, and counts as buffered until it is sent.
class Held final : public BodySource {
 public:
  Held(std::string body, std::shared_ptr<void> room) : body_(std::move(body)), room_(std::move(room)) {}
  Next next(std::string& out) override {
    const std::size_t size = std::min(kPiece, body_.size() - at_);
    out.append(body_, at_, size);
    at_ += size;
    return at_ == body_.size() ? Next::kEnd : Next::kMore;
  }
  void on_ready(std::function<void()>) override {}
  bool is_endless() const override { return false; }

 private:
  std::string body_;
  std::size_t at_ = 0;
  std::shared_ptr<void> room_;
};

Reply reply_of(ApiReply reply, std::function<bool()> still_known = {}) {
  Reply out{.status = reply.status,
            .content_type = std::move(reply.content_type),
            .body = std::move(reply.body),
            .fields = std::move(reply.fields)};
  if (reply.watch != nullptr) {
    auto watch = std::make_unique<Watch>(std::move(reply.watch));
    watch->guard(std::move(still_known));
    out.stream = std::move(watch);
  }
  // What an API answers is of the moment, and some of it is secret.
  out.fields.emplace_back("Cache-Control", "no-cache, private");
  return out;
}

bool is_open_to_all(std::string_view path) {
  return path == "/healthz" || path == "/livez" || path == "/readyz" || path == "/version" || path == "/healthz/ping";
}

/// Text from outside, for one line of a log.
std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 256;
  std::string out(text.substr(0, kMost));
  std::replace_if(out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  return out;
}

bool has_body(const Request& head) {
  const std::string_view length = head.field("content-length");
  return head.has("transfer-encoding") || length.find_first_not_of('0') != std::string_view::npos;
}

/// More groups than a dashboard's login has.
constexpr std::size_t kMaxGroups = 512;

/// Whoever asks to act as another is not to act as itself.
bool impersonates(const Request& head) {
  constexpr std::string_view kPrefix = "impersonate-";
  return std::ranges::any_of(head.fields, [&](const auto& field) {
    return field.first.size() > kPrefix.size() && starts_with_ignoring_case(field.first, kPrefix);
  });
}

/// Returns whom a request acts as (Impersonate-User, Impersonate-Group), or why it may not. Precondition: impersonates.
Result<User> acting_as(const User& asker, const Request& head) {
  const auto forbidden = [](std::string why) {
    return Error{ErrorCode::kPermissionDenied, "forbidden: " + std::move(why)};
  };
  if (!is_in(asker, kMastersGroup)) return forbidden("only " + std::string(kMastersGroup) + " may impersonate");
  User user;
  for (const auto& [name, value] : head.fields) {
    const std::string lower = ascii_lower(name);
    if (!lower.starts_with("impersonate-")) continue;
    if (value.empty()) return forbidden(name + " is empty");
    if (lower == "impersonate-user" && user.name.empty()) {
      user.name = value;
    } else if (lower == "impersonate-group" && user.groups.size() < kMaxGroups) {
      user.groups.push_back(value);
    } else {
      // Uid and Extra would have to be obeyed, and a second user is a mistake.
      return forbidden(name + " is not supported, or there is too much of it");
    }
  }
  if (user.name.empty()) return forbidden("Impersonate-Group without Impersonate-User");
  if (!is_in(user, kAuthenticatedGroup)) user.groups.emplace_back(kAuthenticatedGroup);
  return user;
}

objects::StatusError path_forbidden(std::string_view user, const Attributes& what) {
  objects::StatusError error;
  error.code = 403;
  error.reason = "Forbidden";
  error.message = "forbidden: User \"" + std::string(user) + "\" cannot " + what.verb + " path \"" + what.path + "\"";
  return error;
}

}  // namespace

Front::Front(net::Loop& loop, Api& api, Credentials& credentials, Logger log, std::size_t max_held)
    : loop_(loop),
      api_(api),
      credentials_(credentials),
      documents_(api.registry()),
      log_(std::move(log)),
      max_held_(max_held) {
  work();
}

Reply Front::fault(int status, std::string_view text) {
  objects::StatusError error = objects::bad_request(text);
  if (status == 413) error = objects::too_large(text);
  if (status == 503) error = objects::unavailable(text);
  error.code = status;
  return reply_of(error);
}

// ---- Who may ------------------------------------------------------------------------------------------------------

std::optional<User> Front::who_asks(const Request& head) const {
  // Whoever shows a token is known by it alone: a wrong one is not made good by a certificate.
  if (head.has("authorization")) {
    constexpr std::string_view kScheme = "bearer ";
    const std::string_view value = head.field("authorization");
    if (value.size() <= kScheme.size() || !starts_with_ignoring_case(value, kScheme)) return std::nullopt;
    return credentials_.user_of_token(value.substr(kScheme.size()));
  }
  if (head.peer->name) return credentials_.user_of(*head.peer->name);
  return std::nullopt;
}

/// A watch lasts: whoever was let in by what is revoked meanwhile hears no more.
std::function<bool()> Front::still_known(const Request& head) const {
  Request same{.method = {},
               .path = {},
               .query = {},
               .host = {},
               .fields = {{"Authorization", std::string(head.field("authorization"))}},
               .body = {},
               .peer = head.peer};
  if (!head.has("authorization")) same.fields.clear();
  return [this, same = std::move(same), seen = credentials_.replacements()]() mutable {
    if (seen == credentials_.replacements()) return true;
    if (!who_asks(same)) return false;
    seen = credentials_.replacements();
    return true;
  };
}

void Front::refused(LogLevel level, const std::string& what, const std::function<LogFields()>& fields) {
  count_refusals();
  if (told_ == kRefusalsTold) {
    ++untold_;
  } else {
    ++told_;
    log_.write(level, what, fields());
  }
}

void Front::count_refusals() {
  if (loop_.now() - told_since_ < kRefusalsToldIn) return;
  if (untold_ > 0) log_.warn("resource api: further refusals were not logged", {{"count", std::to_string(untold_)}});
  told_since_ = loop_.now();
  told_ = untold_ = 0;
}

// Who is nobody may be somebody who tries; who is known and may not is told so by the answer.
void Front::tell_refused(const Request& head, const Attributes& what, int status, std::string_view user) {
  const LogLevel level = status == 401 ? LogLevel::kWarn : LogLevel::kInfo;
  refused(level, "resource api: a request is refused", [&] {
    return LogFields{{"status", std::to_string(status)},
                     {"user", printable(user)},
                     {"verb", printable(what.verb)},
                     {"path", printable(head.path)},
                     {"from", to_string(head.peer->address.address) + ":" + std::to_string(head.peer->address.port)}};
  });
}

void Front::answered(const Request& request, int status) const {
  if (request.method == "GET" || request.method == "HEAD") return;
  const std::optional<Query> query = decode_query(request.query);
  LogFields fields = {{"method", printable(request.method)},
                      {"path", printable(request.path)},
                      {"status", std::to_string(status)},
                      {"client", printable(request.field("user-agent"))}};
  for (const auto& [name, value] : query.value_or(Query())) {
    if (name == "fieldManager") fields.push_back({"manager", printable(value)});
  }
  log_.debug("resource api: a write", std::move(fields));
}

std::optional<Reply> Front::admit(const Request& head) {
  const std::optional<std::string> path = decode_path(head.path);
  const std::optional<Query> query = decode_query(head.query);
  if (!path || !query) return fault(400, "the path or the query is malformed");
  if (is_open_to_all(*path) && (head.method == "GET" || head.method == "HEAD")) {
    // The room for bodies is for those who are known.
    if (has_body(head)) return fault(413, "this path takes no body");
    return std::nullopt;
  }
  const Attributes what = attributes_of(head.method, *path, *query);
  std::optional<User> user = who_asks(head);
  if (!user) {
    tell_refused(head, what, 401, "");
    return reply_of(objects::unauthorized());
  }
  if (impersonates(head)) {
    auto other = acting_as(*user, head);
    if (!other) {
      tell_refused(head, what, 403, user->name);
      objects::StatusError error = path_forbidden(user->name, what);
      error.message = other.error().text;
      return reply_of(error);
    }
    user = std::move(*other);
  }
  if (allowed(*user, what)) return std::nullopt;
  tell_refused(head, what, 403, user->name);
  if (!what.path.empty()) return reply_of(path_forbidden(user->name, what));
  return reply_of(objects::forbidden({what.group, what.resource, what.resource}, what.name, user->name, what.verb,
                                     what.name_space));
}

// ---- Answers ------------------------------------------------------------------------------------------------------

template <typename Work>
std::optional<Reply> Front::guarded(const Work& work) const {
  try {
    return work();
  } catch (const std::exception& fault) {
    log_.error("resource api: a request failed", {{"reason", fault.what()}});
    return reply_of(objects::internal_error("the request could not be worked on"));
  }
}

std::optional<Reply> Front::answer_here(ApiRequest& request) {
  if (media_type(request.content_type) == kKubernetesProtobuf && !request.body.empty()) {
    objects::Answer<std::string> json = json_of_protobuf(request.body);
    if (!json) return reply_of(json.error());
    request.body = std::move(*json);
    request.content_type = kJsonType;
  }
  std::optional<ApiReply> review = answer_review(request, attributes_of(request.method, request.path, request.query));
  if (!review) return std::nullopt;
  return reply_of(std::move(*review));
}

net::Task<Reply> Front::answer(const Request& request) {
  std::optional<std::string> path = decode_path(request.path);
  std::optional<Query> query = decode_query(request.query);
  if (!path || !query) co_return fault(400, "the path or the query is malformed");
  std::optional<Reply> document = guarded([&] { return documents_.answer(request, *path); });
  if (document) co_return std::move(*document);
  std::optional<User> user = who_asks(request);
  if (!user) co_return reply_of(objects::unauthorized());
  if (impersonates(request)) {
    auto other = acting_as(*user, request);
    // Credentials may have been replaced since it was admitted.
    if (!other) co_return reply_of(objects::unauthorized());
    user = std::move(*other);
  }
  if (request.has("content-encoding")) {
    co_return reply_of(objects::unsupported_media_type("no Content-Encoding"));
  }
  Pending pending(loop_);
  pending.request = {.method = request.method,
                     .path = std::move(*path),
                     .query = std::move(*query),
                     .content_type = std::string(request.field("content-type")),
                     .accept = std::string(request.field("accept")),
                     .body = request.body,
                     .user = std::move(*user),
                     .user_agent = std::string(request.field("user-agent"))};
  std::optional<Reply> here = guarded([&] { return answer_here(pending.request); });
  if (here) co_return std::move(*here);
  pending_.push_back(&pending);
  loop_.defer(*this);
  while (!pending.answered) {
    // Nobody else ends this wait: the Api answers everything that it is asked.
    const net::Wake wake = co_await pending.waiter.wait(net::kNever);
    if (wake == net::Wake::kCancelled) break;
  }
  std::function<bool()> guard;
  if (pending.reply.watch != nullptr) guard = still_known(request);
  Reply reply = reply_of(std::move(pending.reply), std::move(guard));
  if (pending.room) {
    reply.stream_size = reply.body.size();
    reply.stream = std::make_unique<Held>(std::exchange(reply.body, {}), std::move(pending.room));
  }
  co_return reply;
}

void Front::run_deferred() {
  const std::vector<Pending*> turn = std::exchange(pending_, {});
  std::vector<Pending*> writes;
  std::vector<Pending*> reads;
  for (Pending* pending : turn) (pending->request.method == "GET" ? reads : writes).push_back(pending);
  answer_write(writes);
  // One after the other: each sees how much room those before it have left.
  for (Pending* pending : reads) answer_read(*pending);
  for (Pending* pending : turn) {
    pending->answered = true;
    pending->waiter.wake_later();
  }
  work();
}

/// Together, so that they wait for the disk once.
void Front::answer_write(const std::vector<Pending*>& turn) {
  std::vector<ApiRequest> requests;
  requests.reserve(turn.size());
  for (Pending* pending : turn) requests.push_back(std::move(pending->request));
  std::vector<ApiReply> replies = api_.handle_all(requests);
  for (std::size_t i = 0; i < turn.size(); ++i) turn[i]->reply = std::move(replies[i]);
}

void Front::answer_read(Pending& pending) {
  if (*held_ > max_held_) {
    const objects::StatusError busy = objects::too_many_requests(
        "too many long lists are still being taken; try again, or ask for pages with `limit`", 1);
    pending.reply = {.status = busy.code, .body = busy.text(), .fields = {{"Retry-After", "1"}}};
    return;
  }
  pending.reply = api_.handle(pending.request);
  const std::size_t size = pending.reply.body.size();
  if (size < kLargeAnswer) return;
  *held_ += size;
  pending.room = std::shared_ptr<void>(held_.get(), [held = held_, size](void*) { *held -= size; });
}

void Front::work() {
  count_refusals();
  net::Duration next = api_.work();
  if (untold_ > 0) next = std::min<net::Duration>(next, kRefusalsToldIn);
  loop_.timers().set(*this, loop_.now() + next);
}

}  // namespace edge::resource_api::http
