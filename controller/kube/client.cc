#include "controller/kube/client.h"

#include <algorithm>
#include <charconv>

#include "controller/kube/client_state.h"

namespace edge::kube {
namespace {

using net::client::Answer;
using net::client::CallFault;

/// Between two tries of one call.
constexpr net::Duration kFirstDelay = std::chrono::milliseconds(100);
constexpr net::Duration kLongestDelay = std::chrono::seconds(2);
constexpr std::size_t kMostWarnings = 16;
/// Informers hold a connection each (HTTP/1.1).
constexpr std::size_t kMaxConnections = 256;
constexpr std::chrono::seconds kNoticeLoss{45};

/// `299 - "text"`
std::string warning_text(std::string_view value) {
  const std::size_t begin = value.find('"');
  const std::size_t end = value.rfind('"');
  if (begin == std::string_view::npos || end <= begin) return std::string(value);
  std::string text;
  for (std::size_t i = begin + 1; i < end; ++i) {
    if (value[i] == '\\' && i + 1 < end) ++i;
    text += value[i];
  }
  return text;
}

int retry_after_of(const Answer& answer) {
  const std::string_view text = answer.value("retry-after");
  int seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? std::clamp(seconds, 0, 3600) : 0;
}

bool reads(const std::string& method) { return method == "GET" || method == "HEAD"; }

/// Nothing of the call has left this machine.
bool unsent(CallFault fault) {
  return fault == CallFault::kName || fault == CallFault::kConnect || fault == CallFault::kTooMany;
}

/// Whether the same call may be made again: the server asks for it, or cannot have acted on it.
bool repeatable(const Request& request, const Answer& answer, const Failure& failure) {
  if (answer.ok()) return failure.retry_after > 0 && (answer.status == 429 || answer.status >= 500);
  return unsent(answer.fault) || (reads(request.method) && answer.fault == CallFault::kClosed);
}

}  // namespace

Client::State::State(net::Loop& on, Config with, ClientOptions chosen)
    : loop(on),
      config(std::move(with)),
      options(std::move(chosen)),
      http(on, resolver, records,
           {.max_connections = kMaxConnections, .notice_loss = kNoticeLoss, .dial = config.cluster.dial}) {}

std::string Client::State::fields(const Request& request, const Presented& presented) const {
  std::string lines = "User-Agent: " + options.user_agent + "\r\nAccept: " + request.accept + "\r\n";
  if (!request.body.empty()) {
    lines += "Content-Type: " + (request.content_type.empty() ? "application/json" : request.content_type) + "\r\n";
  }
  return lines + presented.fields;
}

net::client::Call Client::State::call(const Request& request, std::string_view target, std::string_view lines,
                                      const Presented& presented, net::Time until) const {
  return {.url = config.cluster.server,
          .method = request.method,
          .target = target,
          .fields = lines,
          .body = request.body,
          .until = until,
          .max_body = options.max_body,
          .asker = nullptr,
          .authorities = nullptr,
          .security = presented.security};
}

Failure Client::State::failure_of(const Answer& answer) const {
  Failure failure;
  const std::string server = config.cluster.server.origin();
  switch (answer.fault) {
    case CallFault::kCancelled:
      return {.kind = Failure::Kind::kCancelled};
    case CallFault::kTimeout:
      failure.kind = Failure::Kind::kTimeout;
      failure.message = server + " did not answer in time";
      return failure;
    case CallFault::kMalformed:
    case CallFault::kTooLarge:
      failure.kind = Failure::Kind::kMalformed;
      failure.message = "the answer of " + server + " cannot be taken: " + answer.detail;
      return failure;
    default:
      failure.kind = Failure::Kind::kConnection;
      failure.message = "cannot reach " + server + (answer.fault == CallFault::kTls ? " by TLS: " : ": ") +
                        (answer.detail.empty() ? std::string(fault_word(answer.fault)) : answer.detail);
      return failure;
  }
}

Failure Client::State::refusal_of(const Answer& head, std::string_view body) {
  Failure failure = read_failure(head.status, body);
  if (const int seconds = retry_after_of(head); seconds > 0) failure.retry_after = seconds;
  return failure;
}

Failure Client::State::failure_of(const Credentials::Got& got) {
  if (got.cancelled) return {.kind = Failure::Kind::kCancelled};
  return {.kind = Failure::Kind::kCredentials, .message = "no credentials: " + got.error};
}

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::~Client() { state_->http.close_idle(); }

Result<std::unique_ptr<Client>> Client::make(net::Loop& loop, Config config, ClientOptions options) {
  auto state = std::make_unique<State>(loop, std::move(config), std::move(options));
  auto credentials = Credentials::make(loop, state->config, state->options.terminal);
  if (!credentials.ok()) return credentials.error();
  state->credentials = std::move(*credentials);
  return std::unique_ptr<Client>(new Client(std::move(state)));
}

const Config& Client::config() const { return state_->config; }
net::Loop& Client::loop() const { return state_->loop; }

net::Task<Reply> Client::send(net::Waiter& waiter, Request request) {
  State& state = *state_;
  if (state.options.instead) co_return state.options.instead(request);
  const std::string target = state.config.cluster.server.target + request.target;
  Backoff backoff(kFirstDelay, kLongestDelay, nullptr);
  bool renewed = false;
  net::Time until{};
  for (int tries = 0;; ++tries) {
    Credentials::Got got = co_await state.credentials->present(waiter);
    if (got.presented == nullptr) co_return Reply{.failure = State::failure_of(got)};
    // A login may take a person's time; the server's begins after it.
    if (tries == 0) {
      const net::Duration patience = request.timeout.count() > 0 ? request.timeout : state.options.timeout;
      until = state.loop.now() + patience;
    }
    const std::string lines = state.fields(request, *got.presented);
    Answer answer = co_await state.http.call(waiter, state.call(request, target, lines, *got.presented, until));
    Reply reply{.failure = {}, .http = answer.status};
    if (!answer.ok()) {
      reply.failure = state.failure_of(answer);
    } else {
      if (answer.status >= 300) reply.failure = State::refusal_of(answer, answer.body);
      reply.content_type = answer.value("content-type");
      for (const Answer::Field& field : answer.fields) {
        if (field.name != "warning" || reply.warnings.size() == kMostWarnings) continue;
        reply.warnings.push_back(warning_text(field.value));
      }
      reply.body = std::move(answer.body);
    }
    if (reply.ok()) co_return reply;
    if (reply.failure.refused(401) && !renewed && state.credentials->refused(*got.presented)) {
      renewed = true;
      continue;
    }
    if (tries >= state.options.tries || !repeatable(request, answer, reply.failure)) co_return reply;
    const net::Duration asked = std::chrono::seconds(reply.failure.retry_after);
    const net::Time at = state.loop.now() + std::max(asked, backoff.next());
    if (at >= until) co_return reply;
    const net::Wake wake = co_await waiter.wait(at);
    if (wake == net::Wake::kCancelled) co_return Reply{};
  }
}

}  // namespace edge::kube
