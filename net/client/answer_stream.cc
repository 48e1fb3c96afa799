// Responses that are read piece by piece.
#include "net/client/answer_reader.h"
#include "net/client/http_client.h"
#include "net/client/origin.h"

namespace edge::net::client {
namespace {

/// What is received at once.
constexpr std::size_t kPiece = std::size_t{16} << 10;

}  // namespace

struct AnswerStream::State {
  State(std::shared_ptr<Origin> from, std::unique_ptr<Connection> over, AnswerReader reading, Buffer already)
      : origin(std::move(from)),
        connection(std::move(over)),
        reader(std::move(reading)),
        received(std::move(already)),
        piece(reader.take_body()) {}
  ~State() {
    if (connection != nullptr) origin->release(std::move(connection), false);
  }

  std::shared_ptr<Origin> origin;
  std::unique_ptr<Connection> connection;
  AnswerReader reader;
  Buffer received;
  /// What came together with the head, then what was read last.
  std::string piece;
  bool given = false;
};

AnswerStream::AnswerStream() = default;
AnswerStream::AnswerStream(AnswerStream&&) noexcept = default;
AnswerStream& AnswerStream::operator=(AnswerStream&&) noexcept = default;
AnswerStream::~AnswerStream() = default;

AnswerStream AnswerStream::failed(Answer answer) {
  AnswerStream stream;
  stream.answer_ = std::move(answer);
  return stream;
}

AnswerStream AnswerStream::begun(std::shared_ptr<Origin> origin, std::unique_ptr<Connection> connection,
                                 AnswerReader reader, Buffer received) {
  AnswerStream stream;
  stream.answer_ = reader.copy_head();
  stream.state_ =
      std::make_unique<State>(std::move(origin), std::move(connection), std::move(reader), std::move(received));
  return stream;
}

AnswerStream AnswerStream::whole(Answer answer) {
  AnswerStream stream;
  stream.rest_ = std::move(answer.body);
  answer.body.clear();
  stream.answer_ = std::move(answer);
  return stream;
}

AnswerStream::Piece AnswerStream::over() {
  const CallFault fault = state_->reader.fault();
  const bool clean = fault == CallFault::kNone && state_->received.empty();
  state_->origin->release(std::move(state_->connection), clean && state_->reader.keeps_alive());
  last_ = std::move(state_->piece);
  Piece last{.bytes = last_, .end = fault == CallFault::kNone, .fault = fault, .detail = state_->reader.detail()};
  state_.reset();
  return last;
}

Task<AnswerStream::Piece> AnswerStream::read(Waiter& waiter, Time until) {
  if (state_ == nullptr) {
    // Nothing, or all of it, came with the head.
    last_ = std::exchange(rest_, {});
    co_return Piece{.bytes = last_, .end = true};
  }
  State& state = *state_;
  if (!state.given && !state.piece.empty()) {
    state.given = true;
    co_return Piece{.bytes = state.piece};
  }
  state.given = true;
  for (;;) {
    const Transfer got = state.connection->receive(state.received.room(kPiece));
    if (got.kind == Transfer::Kind::kDone) {
      state.received.grow(got.bytes);
      std::size_t consumed = 0;
      const AnswerReader::State now = state.reader.take(state.received.view(), consumed);
      state.received.consume(consumed);
      state.piece = state.reader.take_body();
      if (now == AnswerReader::State::kDone) co_return over();
      if (!state.piece.empty()) co_return Piece{.bytes = state.piece};
      continue;
    }
    if (got.kind != Transfer::Kind::kWouldBlock || state.connection->hung_up()) {
      state.piece.clear();
      state.reader.end();
      co_return over();
    }
    // Many streams wait for long: they hold nothing meanwhile.
    if (state.received.empty()) state.received.release();
    const Wake wake = co_await waiter.wait(until, *state.connection, kRead);
    if (wake == Wake::kTimeout) co_return Piece{.fault = CallFault::kTimeout, .detail = "nothing came in time"};
    if (wake == Wake::kCancelled) co_return Piece{.fault = CallFault::kCancelled, .detail = "cancelled"};
  }
}

}  // namespace edge::net::client
