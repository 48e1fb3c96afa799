// A watch: a long response with one JSON event per line.
#include "controller/kube/client_state.h"

namespace edge::kube {
namespace {

using net::client::AnswerStream;
using net::client::CallFault;

/// Of the body of a refusal.
constexpr std::size_t kMaxRefusal = std::size_t{64} << 10;
/// What was used up is given back when it is as much.
constexpr std::size_t kCompact = std::size_t{64} << 10;

Failure malformed(std::string why) { return {.kind = Failure::Kind::kMalformed, .message = std::move(why)}; }

}  // namespace

struct Watch::State {
  State(AnswerStream from, ObjectReading with, std::size_t most, const Client::State& of)
      : stream(std::move(from)), reading(std::move(with)), max_frame(most), client(of) {}

  /// The next whole line, without its end; empty when there is none.
  std::string_view take_line() {
    for (;;) {
      const std::size_t end = received.find('\n', searched);
      if (end == std::string::npos) {
        searched = received.size();
        return {};
      }
      const std::string_view line = std::string_view(received).substr(begin, end - begin);
      begin = searched = end + 1;
      if (line.find_first_not_of(" \t\r") != std::string_view::npos) return line;
    }
  }
  /// Views of lines are over.
  void append(std::string_view bytes) {
    if (begin == received.size() || begin >= kCompact) {
      received.erase(0, begin);
      searched -= begin;
      begin = 0;
    }
    received.append(bytes);
  }

  AnswerStream stream;
  const ObjectReading reading;
  const std::size_t max_frame;
  const Client::State& client;
  std::string received;
  std::size_t begin = 0;
  std::size_t searched = 0;
};

Watch::Watch() = default;
Watch::Watch(Watch&&) noexcept = default;
Watch& Watch::operator=(Watch&&) noexcept = default;
Watch::~Watch() = default;

bool Watch::has_more() const {
  return state_ != nullptr && state_->received.find('\n', state_->searched) != std::string::npos;
}

net::Task<Watch::Next> Watch::next(net::Waiter& waiter, net::Time until) {
  if (state_ == nullptr) co_return Next{.kind = Next::Kind::kEnd};
  State& state = *state_;
  for (;;) {
    if (const std::string_view line = state.take_line(); !line.empty()) {
      Result<WatchEvent> event = read_event(line, state.reading);
      if (event.ok()) co_return Next{.kind = Next::Kind::kEvent, .event = std::move(*event)};
      co_return Next{.kind = Next::Kind::kFailed, .failure = malformed(event.error().text)};
    }
    if (state.received.size() - state.begin > state.max_frame) {
      co_return Next{.kind = Next::Kind::kFailed, .failure = malformed("an event of the watch is larger than allowed")};
    }
    const AnswerStream::Piece piece = co_await state.stream.read(waiter, until);
    if (piece.fault == CallFault::kNone) {
      state.append(piece.bytes);
      // Half a frame at the end is none: the watch that follows tells it whole.
      if (piece.end && state.received.find('\n', state.searched) == std::string::npos) {
        state_.reset();
        co_return Next{.kind = Next::Kind::kEnd};
      }
      continue;
    }
    net::client::Answer answer;
    answer.fault = piece.fault;
    answer.detail = piece.detail;
    co_return Next{.kind = Next::Kind::kFailed, .failure = state.client.failure_of(answer)};
  }
}

net::Task<Watch> Client::watch(net::Waiter& waiter, Resource resource, WatchOptions options) {
  State& state = *state_;
  if (state.options.instead) {
    Watch none;
    none.failure_ = {.kind = Failure::Kind::kRefused, .http = 405, .message = "changes cannot be followed here"};
    co_return none;
  }
  Query query;
  query.add("watch", "true")
      .add_some("allowWatchBookmarks", options.bookmarks ? "true" : "")
      .add_some("resourceVersion", options.resource_version)
      .add_some("labelSelector", options.label_selector)
      .add_some("fieldSelector", options.field_selector)
      .add("timeoutSeconds", std::to_string(options.lifetime.count()));
  const Request request{.target = path_of(resource, options.name_space) + query.text()};
  const std::string target = state.config.cluster.server.target + request.target;
  if (options.reading.api_version.empty()) options.reading.api_version = resource.api_version();
  if (options.reading.kind.empty()) options.reading.kind = resource.kind;
  Watch watch;
  for (bool renewed = false;; renewed = true) {
    Credentials::Got got = co_await state.credentials->present(waiter);
    if (got.presented == nullptr) {
      watch.failure_ = State::failure_of(got);
      co_return watch;
    }
    const net::Time until = state.loop.now() + state.options.timeout;
    const std::string lines = state.fields(request, *got.presented);
    AnswerStream stream = co_await state.http.open(waiter, state.call(request, target, lines, *got.presented, until));
    if (!stream.answer().ok()) {
      watch.failure_ = state.failure_of(stream.answer());
      co_return watch;
    }
    if (stream.answer().status == 200) {
      watch.failure_ = {};
      watch.state_ = std::make_unique<Watch::State>(std::move(stream), options.reading, state.options.max_frame, state);
      co_return watch;
    }
    std::string body;
    for (bool more = true; more && body.size() < kMaxRefusal;) {
      const AnswerStream::Piece piece = co_await stream.read(waiter, until);
      body.append(piece.bytes);
      more = piece.fault == CallFault::kNone && !piece.end;
    }
    watch.failure_ = State::refusal_of(stream.answer(), body);
    if (renewed || !watch.failure_.refused(401) || !state.credentials->refused(*got.presented)) co_return watch;
  }
}

}  // namespace edge::kube
