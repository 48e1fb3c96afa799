#include "net/http2/client_channel.h"

#include <array>
#include <utility>

namespace edge::net::http2 {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// A connection that was silent for so long is asked for a sign of life when a request is put on it.
constexpr Duration kStale = seconds(15);
/// The same while requests wait for answers. Servers of gRPC take more than two PINGs in five minutes for a flood.
constexpr Duration kQuiet = minutes(5) + seconds(30);
constexpr Duration kAnswerWithin = seconds(10);
/// Receives before other connections get their turn.
constexpr int kFillsATurn = 16;
constexpr std::size_t kTransfer = std::size_t{64} * 1024;

}  // namespace

void ClientChannel::start(Transport transport, bool secure) {
  ClientConnection::Owner& owner = *this;
  connection_.emplace(engine_, owner, secure, loop_.now());
  open(loop_, std::move(transport), kRead | kWrite);
  output_waits();
  // A layer may hold bytes that came with its handshake.
  if (layer() != nullptr) receive_all();
}

std::unique_ptr<Layer> ClientChannel::open_stream() {
  const Time now = loop_.now();
  const Time heard = connection_->heard_at();
  if (answer_until_ == kNever && now - heard > kStale) {
    connection_->ping();
    answer_until_ = now + kAnswerWithin;
    loop_.timers().set(*this, answer_until_);
  } else if (answer_until_ == kNever) {
    loop_.timers().set(*this, heard + kQuiet);
  }
  return connection_->open_stream();
}

void ClientChannel::expired() {
  if (!connection_) return;
  const Time now = loop_.now();
  const Time heard = connection_->heard_at();
  if (answer_until_ != kNever) {
    if (heard + kAnswerWithin < answer_until_) return end();
    answer_until_ = kNever;
  }
  if (connection_->streams() == 0) return;
  if (now - heard >= kQuiet) {
    connection_->ping();
    answer_until_ = now + kAnswerWithin;
    loop_.timers().set(*this, answer_until_);
  } else {
    loop_.timers().set(*this, heard + kQuiet);
  }
}

void ClientChannel::shut() {
  if (!connection_) return;
  connection_->go_away();
  flush();
  end();
}

// ---- Bytes --------------------------------------------------------------------------------------------------------

void ClientChannel::output_waits() { loop_.defer(*this); }

void ClientChannel::run_deferred() {
  flush();
  if (!ended_ && std::exchange(changed_, false)) owner_.changed(*this);
}

void ClientChannel::stream_ended() {
  changed_ = true;
  loop_.defer(*this);
}

void ClientChannel::unattended(std::uint8_t events) {
  if (!connection_) return;
  if ((events & kRead) != 0) receive_all();
  if ((events & kWrite) != 0 && connection_) flush();
}

void ClientChannel::receive_all() {
  std::array<char, kTransfer> bytes;
  for (int fills = 0; fills < kFillsATurn; ++fills) {
    const Transfer got = receive(bytes);
    if (got.kind == Transfer::Kind::kWouldBlock) return;
    if (got.kind != Transfer::Kind::kDone) return end();
    if (!connection_->feed({bytes.data(), got.bytes}, loop_.now())) {
      flush();
      return end();
    }
    // A short read took all there was, and what comes later is reported anew.
    if (!readable()) break;
  }
  if (connection_->over()) return end();
  defer();
}

void ClientChannel::flush() {
  if (!connection_) return;
  for (;;) {
    if (out_.empty()) {
      const std::size_t size = connection_->produce(out_.room(kTransfer).first(kTransfer), loop_.now());
      out_.grow(size);
    }
    if (out_.empty()) break;
    const iovec rest{const_cast<char*>(out_.view().data()), out_.size()};
    const Transfer sent = send({&rest, 1});
    if (sent.kind == Transfer::Kind::kFailed) return end();
    if (sent.kind != Transfer::Kind::kDone) return;
    out_.consume(sent.bytes);
    if (!out_.empty()) return;
    out_.release();
  }
  out_.release();
  if (connection_->over()) end();
}

void ClientChannel::end() {
  if (std::exchange(ended_, true)) return;
  loop_.timers().drop(*this);
  connection_.reset();
  close();
  owner_.ended(*this);
}

// ---- One request --------------------------------------------------------------------------------------------------

namespace {

class SingleStream final : public Layer, private ClientChannel::Owner {
 public:
  SingleStream(Loop& loop, ClientEngine& engine, Transport transport, bool secure)
      : loop_(loop), channel_(new ClientChannel(loop, engine, *this)) {
    channel_->start(std::move(transport), secure);
    if (channel_->room() > 0) stream_ = channel_->open_stream();
  }
  ~SingleStream() override {
    stream_.reset();
    channel_->shut();
    loop_.retire(std::move(channel_));
  }

  Transfer receive(Channel& channel, std::span<char> into) override {
    return stream_ == nullptr ? Transfer{Transfer::Kind::kFailed} : stream_->receive(channel, into);
  }
  Transfer send(Channel& channel, std::span<const iovec> pieces) override {
    return stream_ == nullptr ? Transfer{Transfer::Kind::kFailed} : stream_->send(channel, pieces);
  }
  bool finish(Channel& channel) override { return stream_ != nullptr && stream_->finish(channel); }
  void reset(Channel& channel) override {
    if (stream_ != nullptr) stream_->reset(channel);
  }

 private:
  void changed(ClientChannel&) override {}
  void ended(ClientChannel&) override {}

  Loop& loop_;
  std::unique_ptr<ClientChannel> channel_;
  std::unique_ptr<Layer> stream_;
};

}  // namespace

Transport over_http2(Loop& loop, ClientEngine& engine, Transport transport, bool secure) {
  return {Fd(), std::make_unique<SingleStream>(loop, engine, std::move(transport), secure)};
}

}  // namespace edge::net::http2
