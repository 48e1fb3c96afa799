#include "net/client/http_client.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "net/buffer.h"
#include "net/byte_stream.h"
#include "net/client/answer_reader.h"
#include "net/client/origin.h"

namespace edge::net::client {
namespace {

/// What is received at once.
constexpr std::size_t kReadPiece = std::size_t{8} << 10;
/// Beyond it those that nobody uses are forgotten.
constexpr std::size_t kOrigins = 64;
constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max();

/// May be sent twice (RFC 9110 §9.2.2).
bool idempotent(std::string_view method) {
  constexpr std::array<std::string_view, 6> kMethods = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"};
  return std::ranges::find(kMethods, method) != kMethods.end();
}

/// All but the body.
std::string head_of(const Call& call) {
  std::string text;
  text.reserve(256 + call.fields.size());
  text.append(call.method).append(" ").append(call.target.empty() ? call.url.target : call.target);
  text.append(" HTTP/1.1\r\nHost: ").append(call.url.authority()).append("\r\n").append(call.fields);
  // A body of none has to be told of where a server expects one (RFC 9110 §8.6).
  const std::size_t body = call.body.size() + call.body_rest.size();
  if (body != 0 || call.method == "POST" || call.method == "PUT" || call.method == "PATCH") {
    text.append("Content-Length: ").append(std::to_string(body)).append("\r\n");
  }
  return text.append("\r\n");
}

Answer failed(CallFault fault, std::string detail) {
  Answer answer;
  answer.fault = fault;
  answer.detail = std::move(detail);
  return answer;
}

Answer interrupted(Wake wake) {
  if (wake == Wake::kCancelled) return failed(CallFault::kCancelled, "cancelled");
  return failed(CallFault::kTimeout, "no answer in time");
}

}  // namespace

/// The unsent part of a request. The bytes are not copied: bodies may be large.
class Unsent {
 public:
  Unsent(std::string_view head, const Call& call) : pieces_{piece(head), piece(call.body), piece(call.body_rest)} {
    consume(0);
  }
  bool any() const { return first_ != pieces_.size(); }
  /// As much as is taken now. \returns false when the connection is broken.
  bool send(Channel& channel) {
    if (!any()) return true;
    const Transfer sent = channel.send(std::span(pieces_).subspan(first_));
    if (sent.kind == Transfer::Kind::kDone) consume(sent.bytes);
    return sent.kind != Transfer::Kind::kFailed;
  }

 private:
  void consume(std::size_t bytes) {
    for (; any() && bytes >= pieces_[first_].iov_len; ++first_) bytes -= pieces_[first_].iov_len;
    if (!any()) return;
    iovec& rest = pieces_[first_];
    rest = piece({static_cast<const char*>(rest.iov_base) + bytes, rest.iov_len - bytes});
  }

  std::array<iovec, 3> pieces_;
  std::size_t first_ = 0;
};

struct HttpClient::State {
  State(HttpClient& owner, Loop& loop, Resolver& resolver, tls::RecordRoom& records, const ClientOptions& options)
      : room{loop, resolver, records, options, owner.counts_} {}

  std::shared_ptr<Origin> origin(const Call& call);

  Origin::Room room;
  std::shared_ptr<const tls::Authorities> authorities;
  /// By origin, and by whom it is believed: authorities or settings. An origin keeps them alive, so that the pointer
  /// names one.
  std::map<std::pair<std::string, const void*>, std::shared_ptr<Origin>> origins;
  /// For one head at a time, between two waits.
  http1::ResponseHead head;
};

std::shared_ptr<Origin> HttpClient::State::origin(const Call& call) {
  const std::shared_ptr<const tls::Authorities>& trusted = call.authorities != nullptr ? call.authorities : authorities;
  const void* const believed = !call.url.secure           ? nullptr
                               : call.security != nullptr ? static_cast<const void*>(call.security.get())
                                                          : trusted.get();
  std::pair key(call.url.origin(), believed);
  if (const auto position = origins.find(key); position != origins.end()) return position->second;
  std::shared_ptr<const tls::ClientSettings> security = call.security;
  if (security == nullptr && trusted != nullptr) {
    security = std::make_shared<const tls::ClientSettings>(tls::ClientSettings{
        .server_name = {}, .names = {}, .authorities = trusted, .certificate = nullptr, .protocols = {}});
  }
  if (origins.size() >= kOrigins) {
    std::erase_if(origins, [](const auto& one) { return one.second->unused() && one.second.use_count() == 1; });
  }
  return origins.emplace(std::move(key), std::make_shared<Origin>(room, call.url, std::move(security))).first->second;
}

std::string_view fault_word(CallFault fault) {
  switch (fault) {
    case CallFault::kNone:
      return "ok";
    case CallFault::kName:
      return "name-unknown";
    case CallFault::kDenied:
      return "address-denied";
    case CallFault::kConnect:
      return "connect-failed";
    case CallFault::kTls:
      return "tls-failed";
    case CallFault::kTooMany:
      return "overloaded";
    case CallFault::kTimeout:
      return "timeout";
    case CallFault::kClosed:
      return "closed";
    case CallFault::kMalformed:
      return "malformed";
    case CallFault::kTooLarge:
      return "too-large";
    case CallFault::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

std::string_view Answer::value(std::string_view name) const {
  const auto position = std::ranges::find(fields, name, &Field::name);
  return position == fields.end() ? std::string_view{} : std::string_view(position->value);
}

HttpClient::HttpClient(Loop& loop, Resolver& resolver, tls::RecordRoom& records, ClientOptions options)
    : state_(std::make_unique<State>(*this, loop, resolver, records, options)) {}

HttpClient::~HttpClient() = default;

void HttpClient::trust(std::shared_ptr<const tls::Authorities> authorities) {
  state_->authorities = std::move(authorities);
}

void HttpClient::close_idle() {
  for (const auto& [key, origin] : state_->origins) origin->close_idle();
}

Task<Answer> HttpClient::call(Waiter& waiter, Call call) {
  counts_.calls.add();
  const std::shared_ptr<Origin> origin = state_->origin(call);
  const std::string head = head_of(call);
  const bool twice = call.repeatable || idempotent(call.method);
  const bool head_only = call.method == "HEAD";
  // One that may not be sent twice does not go where it might be lost.
  bool fresh = !twice;
  const Patience patience{waiter, call.until, call.asker};
  for (;;) {
    Origin::Got got = co_await origin->acquire(patience, fresh);
    if (got.fault != CallFault::kNone) {
      counts_.faults.add();
      co_return failed(got.fault, std::move(got.detail));
    }
    AnswerReader reader(head_only ? http1::Method::kHead : http1::Method::kGet,
                        {state_->room.options.max_head, call.max_body}, state_->head);
    Buffer received;
    const bool clean =
        co_await exchange(patience, *got.connection, Unsent(head, call), reader, received, Extent::kWhole);
    const bool died = got.connection->reused() && !reader.begun();
    origin->release(std::move(got.connection), clean && reader.keeps_alive());
    Answer answer = reader.take_answer();
    if (answer.fault == CallFault::kClosed && died && !fresh) {
      fresh = true;
      continue;
    }
    if (!answer.ok()) counts_.faults.add();
    co_return answer;
  }
}

Task<AnswerStream> HttpClient::open(Waiter& waiter, Call call) {
  counts_.calls.add();
  const std::shared_ptr<Origin> origin = state_->origin(call);
  const std::string head = head_of(call);
  bool fresh = !call.repeatable && !idempotent(call.method);
  const Patience patience{waiter, call.until, nullptr};
  for (;;) {
    Origin::Got got = co_await origin->acquire(patience, fresh);
    if (got.fault != CallFault::kNone) {
      counts_.faults.add();
      co_return AnswerStream::failed(failed(got.fault, std::move(got.detail)));
    }
    AnswerReader reader(http1::Method::kGet, {state_->room.options.max_head, kUnbounded}, state_->head);
    Buffer received;
    const bool open = co_await exchange(patience, *got.connection, Unsent(head, call), reader, received, Extent::kHead);
    if (open && reader.has_head()) {
      co_return AnswerStream::begun(origin, std::move(got.connection), std::move(reader), std::move(received));
    }
    const bool died = got.connection->reused() && !reader.begun();
    origin->release(std::move(got.connection), open && reader.keeps_alive());
    Answer answer = reader.take_answer();
    if (answer.fault == CallFault::kClosed && died && !fresh) {
      fresh = true;
      continue;
    }
    if (answer.ok()) co_return AnswerStream::whole(std::move(answer));
    counts_.faults.add();
    co_return AnswerStream::failed(std::move(answer));
  }
}

/// \returns whether nothing is left over on the connection; of a head alone: whether it is there, and more to come.
Task<bool> HttpClient::exchange(const Patience& patience, Channel& channel, Unsent unsent, AnswerReader& reader,
                                Buffer& received, Extent extent) {
  bool alive = unsent.send(channel);
  while (alive) {
    // A server may answer before it has taken everything, and that counts.
    const Transfer got = channel.receive(received.room(kReadPiece));
    if (got.kind == Transfer::Kind::kDone) {
      received.grow(got.bytes);
      std::size_t consumed = 0;
      const AnswerReader::State state = reader.take(received.view(), consumed);
      received.consume(consumed);
      if (state == AnswerReader::State::kDone) co_return received.empty() && !unsent.any();
      // One that answers before it has taken everything is none whose connection is of use.
      if (extent == Extent::kHead && reader.has_head() && !unsent.any()) co_return true;
      continue;
    }
    if (got.kind != Transfer::Kind::kWouldBlock || channel.hung_up()) break;
    const std::uint8_t interest = unsent.any() ? kRead | kWrite : kRead;
    const Wake woken = co_await patience.wait(channel, interest);
    const Wake wake = patience.outcome(woken);
    if (wake != Wake::kReady) {
      reader.interrupt(interrupted(wake));
      co_return false;
    }
    alive = unsent.send(channel);
  }
  reader.end();
  co_return false;
}

}  // namespace edge::net::client
