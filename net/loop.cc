#include "net/loop.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

namespace edge::net {
namespace {

namespace asio = boost::asio;

constexpr int kBatch = 256;

// Many connections do not fit into the caches next to the processor, and what an event touches hangs on a chain:
// channel, waiter, frame. So each link is asked for while the events before it are handled.
constexpr std::size_t kFar = 6;
constexpr std::size_t kNear = 3;
constexpr std::size_t kLine = 64;

void prefetch_lines(const void* from, std::size_t lines) {
  const char* const byte = static_cast<const char*>(from);
  for (std::size_t line = 0; line < lines; ++line) __builtin_prefetch(byte + line * kLine, 1);
}

std::uint32_t epoll_mask(std::uint8_t interest) {
  return EPOLLET | ((interest & kRead) != 0 ? EPOLLIN | EPOLLRDHUP : 0u) | ((interest & kWrite) != 0 ? EPOLLOUT : 0u);
}

const Clock& steady_clock() {
  static const Clock clock;
  return clock;
}

}  // namespace

// ---- Channel ------------------------------------------------------------------------------------------------------

Channel::~Channel() { close(); }

void Channel::open(Loop& loop, Fd fd, std::uint8_t armed) {
  loop_ = &loop;
  fd_ = std::move(fd);
  armed_ = armed;
  ready_ = 0;
  closing_ = hung_up_ = false;
  control(EPOLL_CTL_ADD);
}

void Channel::open(Loop& loop, Transport transport, std::uint8_t armed) {
  open(loop, std::move(transport.fd), armed);
  if (transport.layer != nullptr) put(std::move(transport.layer));
}

void Channel::put(std::unique_ptr<Layer> layer) {
  layer_ = std::move(layer);
  // It may hold bytes that no event will tell of.
  ready_ |= kRead | kWrite;
}

void Channel::close() {
  // The place stays: whoever is signalled in this turn may close others of it.
  if (put_off_) std::ranges::replace(loop_->put_off_, this, nullptr);
  layer_.reset();
  leave_set(fd_);
  fd_.reset();
  waiter_ = nullptr;
  put_off_ = false;
  wanted_ = armed_ = ready_ = 0;
}

Transport Channel::release() {
  Transport transport{std::move(fd_), std::move(layer_)};
  leave_set(transport.fd);
  close();
  return transport;
}

Transfer Channel::receive(std::span<char> into) {
  if (layer_ != nullptr) return receive_layered(into);
  const Transfer result = net::receive(fd_.get(), into);
  // A short read took all there was, and what comes later is reported anew: an end that came with it is not.
  if (result.kind == Transfer::Kind::kWouldBlock ||
      (result.kind == Transfer::Kind::kDone && result.bytes < into.size() && !closing_)) {
    ready_ &= static_cast<std::uint8_t>(~kRead);
  }
  return result;
}

Transfer Channel::peek(std::span<char> into, std::size_t seen) {
  const Transfer result = net::peek(fd_.get(), into);
  const bool more = result.kind == Transfer::Kind::kDone && result.bytes > seen;
  if (more || result.kind == Transfer::Kind::kEnd || result.kind == Transfer::Kind::kFailed) return result;
  if (closing_) return {Transfer::Kind::kEnd};
  ready_ &= static_cast<std::uint8_t>(~kRead);
  return {Transfer::Kind::kWouldBlock};
}

Transfer Channel::receive_layered(std::span<char> into) {
  const Transfer result = layer_->receive(*this, into);
  if (result.kind == Transfer::Kind::kWouldBlock) ready_ &= static_cast<std::uint8_t>(~kRead);
  return result;
}

Transfer Channel::send(std::span<const iovec> pieces) {
  if (layer_ != nullptr) return send_layered(pieces);
  std::size_t whole = 0;
  for (const iovec& one : pieces) whole += one.iov_len;
  const Transfer result = net::send(fd_.get(), pieces);
  if (result.kind != Transfer::Kind::kDone || result.bytes < whole) ready_ &= static_cast<std::uint8_t>(~kWrite);
  return result;
}

Transfer Channel::send_layered(std::span<const iovec> pieces) {
  std::size_t whole = 0;
  for (const iovec& one : pieces) whole += one.iov_len;
  const Transfer result = layer_->send(*this, pieces);
  if (result.kind != Transfer::Kind::kDone || result.bytes < whole) ready_ &= static_cast<std::uint8_t>(~kWrite);
  return result;
}

std::size_t Channel::appetite_of_layer() {
  const std::size_t most = layer_->appetite();
  if (most == 0) ready_ &= static_cast<std::uint8_t>(~kWrite);
  return most;
}

bool Channel::finish() { return layer_ != nullptr ? layer_->finish(*this) : ::shutdown(fd_.get(), SHUT_WR) == 0; }

void Channel::reset_on_close() {
  if (layer_ != nullptr) {
    layer_->reset(*this);
  } else {
    net::reset_on_close(fd_.get());
  }
}

void Channel::signal(std::uint8_t events) {
  ready_ |= events;
  if (waiter_ != nullptr && (hung_up_ || (wanted_ & events) != 0)) {
    waiter_->wake_later();
  } else {
    unattended(events);
  }
}

void Channel::signal_hang_up() {
  hung_up_ = true;
  signal(kRead | kWrite);
}

void Channel::defer() {
  if (!readable()) return;
  ready_ &= static_cast<std::uint8_t>(~kRead);
  report_again();
}

void Channel::control(int operation) {
  if (!fd_.valid()) return;
  epoll_event event{};
  event.events = epoll_mask(armed_);
  event.data.ptr = this;
  // Out of watches: every wait ends at once and the next transfer tells the truth.
  if (::epoll_ctl(loop_->epoll_.get(), operation, fd_.get(), &event) != 0) hung_up_ = true;
}

void Channel::report_again() {
  // The kernel does not know what a layer holds.
  if (layer_ != nullptr) {
    loop_->put_off(*this);
  } else {
    control(EPOLL_CTL_MOD);
  }
}

void Channel::arm(std::uint8_t interest) {
  if ((armed_ & interest) == interest) return;
  armed_ |= interest;
  control(EPOLL_CTL_MOD);
}

void Channel::handle(std::uint32_t epoll_events) {
  if (!fd_.valid()) return;
  std::uint8_t events = 0;
  if ((epoll_events & (EPOLLIN | EPOLLRDHUP)) != 0) events |= kRead;
  if ((epoll_events & EPOLLOUT) != 0) events |= kWrite;
  if ((epoll_events & EPOLLRDHUP) != 0) closing_ = true;
  if ((epoll_events & (EPOLLHUP | EPOLLERR)) != 0) {
    hung_up_ = true;
    events = kRead | kWrite;
  }
  ready_ |= events;
  if (waiter_ != nullptr && (hung_up_ || (wanted_ & events) != 0)) {
    waiter_->wake(Wake::kReady);
  } else {
    unattended(events);
  }
}

void Channel::prefetch() const { prefetch_lines(this, 2); }

void Channel::prefetch_waiter() const {
  if (waiter_ != nullptr) prefetch_lines(waiter_, 2);
}

void Channel::prefetch_frame() const {
  if (waiter_ != nullptr && waiter_->handle_) prefetch_lines(waiter_->handle_.address(), 8);
}

// ---- Waiter -------------------------------------------------------------------------------------------------------

Waiter::~Waiter() {
  if (queued_) loop_.unqueue(*this);
  for (Channel* channel : channels_) {
    if (channel != nullptr) channel->waiter_ = nullptr;
  }
}

Waiter::Awaiter Waiter::wait(Time deadline, Channel& channel, std::uint8_t interest) {
  Awaiter awaiter(*this, deadline);
  if (cancelled_) {
    awaiter.ready_ = true;
    awaiter.result_ = Wake::kCancelled;
  } else if (channel.hung_up_ || (channel.ready_ & interest) != 0) {
    awaiter.ready_ = true;
  } else {
    watch(0, channel, interest);
  }
  return awaiter;
}

Waiter::Awaiter Waiter::wait(Time deadline, Channel& one, std::uint8_t interest_one, Channel& two,
                             std::uint8_t interest_two) {
  Awaiter awaiter = wait(deadline, one, interest_one);
  if (awaiter.ready_) return awaiter;
  if (two.hung_up_ || (two.ready_ & interest_two) != 0) {
    awaiter.ready_ = true;
    one.waiter_ = nullptr;
    channels_[0] = nullptr;
  } else {
    watch(1, two, interest_two);
  }
  return awaiter;
}

Waiter::Awaiter Waiter::wait(Time deadline) {
  Awaiter awaiter(*this, deadline);
  if (cancelled_) {
    awaiter.ready_ = true;
    awaiter.result_ = Wake::kCancelled;
  }
  return awaiter;
}

void Waiter::watch(std::size_t index, Channel& channel, std::uint8_t interest) {
  channels_[index] = &channel;
  channel.waiter_ = this;
  channel.wanted_ = interest;
  channel.arm(interest);
}

void Waiter::suspend(std::coroutine_handle<> handle, Time deadline) {
  handle_ = handle;
  loop_.timers().set(*this, deadline);
}

void Waiter::wake(Wake why) {
  if (!handle_) return;
  if (queued_) loop_.unqueue(*this);
  loop_.timers().drop(*this);
  for (Channel*& channel : channels_) {
    if (channel == nullptr) continue;
    channel->waiter_ = nullptr;
    channel = nullptr;
  }
  result_ = why;
  std::exchange(handle_, {}).resume();
}

void Waiter::wake_later() {
  if (!handle_ || queued_) return;
  queued_ = true;
  loop_.queued_.push_back(this);
}

void Waiter::cancel() {
  cancelled_ = true;
  wake(Wake::kCancelled);
}

// ---- Deferred -----------------------------------------------------------------------------------------------------

Deferred::~Deferred() {
  if (deferred_in_ != nullptr) std::erase(deferred_in_->deferred_, this);
}

// ---- Loop ---------------------------------------------------------------------------------------------------------

struct Loop::Host {
  explicit Host(Loop& owner) : loop(owner), context(1), work(context.get_executor()), ready(context), timer(context) {
    ready.assign(loop.epoll_.get());
    watch();
  }
  ~Host() { ready.release(); }

  void watch() {
    ready.async_wait(asio::posix::descriptor_base::wait_read, [this](const boost::system::error_code& error) {
      if (error) return;
      loop.enter();
      loop.batch();
      loop.leave();
      watch();
    });
  }

  // Set anew only when the wheel has something nearer: a deadline that moves away costs nothing here.
  void schedule() {
    // A clock of a test stands still: whoever moves it polls.
    if (loop.clock_ != &steady_clock()) return;
    const Time next = loop.timers_.next();
    if (next >= set_for) return;
    set_for = next;
    timer.expires_at(std::chrono::time_point_cast<asio::steady_timer::duration>(next));
    timer.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      set_for = kNever;
      loop.enter();
      loop.leave();
    });
  }

  Loop& loop;
  asio::io_context context;
  asio::executor_work_guard<asio::io_context::executor_type> work;
  asio::posix::stream_descriptor ready;
  asio::steady_timer timer;
  Time set_for = kNever;
  /// What the kernel told and batch() has not passed on yet, and who gets the events of those that left meanwhile.
  std::span<epoll_event> events;
  Channel nobody;
};

// Closing alone is not enough: a process that is being started shares every open socket until it runs its own program,
// and for so long the set goes on reporting them to a channel that is gone. Nor is leaving the set: events of this
// batch are already here. Looking through them costs less than either call, and only those who leave pay.
void Channel::leave_set(const Fd& fd) const {
  if (!fd.valid()) return;
  ::epoll_ctl(loop_->epoll_.get(), EPOLL_CTL_DEL, fd.get(), nullptr);
  if (loop_->host_ == nullptr) return;
  for (epoll_event& event : loop_->host_->events) {
    if (event.data.ptr == this) event.data.ptr = &loop_->host_->nobody;
  }
}

Loop::Loop(const Clock* clock)
    : clock_(clock != nullptr ? clock : &steady_clock()),
      now_(clock_->now()),
      timers_(now_),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_.valid()) std::abort();
  host_ = std::make_unique<Host>(*this);
}

Loop::~Loop() {
  host_.reset();
  leave();
}

void Loop::run() { host_->context.run(); }

void Loop::poll() {
  enter();
  batch();
  leave();
  host_->context.poll();
}

void Loop::stop() { host_->context.stop(); }

void Loop::post(std::function<void()> work) {
  asio::post(host_->context, [this, task = std::move(work)] {
    enter();
    task();
    leave();
  });
}

boost::asio::io_context& Loop::context() { return host_->context; }

void Loop::retire(std::unique_ptr<Retirable> object) {
  object->next_retired_ = retired_;
  retired_ = object.release();
}

void Loop::unqueue(Waiter& waiter) {
  waiter.queued_ = false;
  std::erase(queued_, &waiter);
}

void Loop::defer(Deferred& work) {
  if (work.deferred_in_ != nullptr) return;
  work.deferred_in_ = this;
  deferred_.push_back(&work);
}

void Loop::put_off(Channel& channel) {
  if (channel.put_off_) return;
  channel.put_off_ = true;
  put_off_.push_back(&channel);
  if (put_off_.size() == 1) post([this] { signal_put_off(); });
}

void Loop::signal_put_off() {
  const std::size_t turn = put_off_.size();
  for (std::size_t i = 0; i < turn; ++i) {
    Channel* const channel = std::exchange(put_off_[i], nullptr);
    if (channel == nullptr) continue;
    channel->put_off_ = false;
    channel->signal(kRead);
  }
  put_off_.erase(put_off_.begin(), put_off_.begin() + static_cast<std::ptrdiff_t>(turn));
  if (!put_off_.empty()) post([this] { signal_put_off(); });
}

void Loop::enter() { now_ = clock_->now(); }

void Loop::batch() {
  std::array<epoll_event, kBatch> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), kBatch, 0);
  const std::span<epoll_event> ready(events.data(), static_cast<std::size_t>(std::max(count, 0)));
  host_->events = ready;
  const auto channel = [&](std::size_t i) { return static_cast<Channel*>(ready[i].data.ptr); };
  for (std::size_t i = 0; i < ready.size(); ++i) {
    if (i + kFar < ready.size()) channel(i + kFar)->prefetch();
    if (i + kNear < ready.size()) channel(i + kNear)->prefetch_waiter();
    if (i + 1 < ready.size()) channel(i + 1)->prefetch_frame();
    channel(i)->handle(ready[i].events);
  }
  host_->events = {};
}

void Loop::leave() {
  timers_.advance(now_);
  // A waiter that is woken may queue others and leave work for later, which may wake others again.
  while (!queued_.empty() || !deferred_.empty()) {
    while (!queued_.empty()) {
      Waiter* waiter = queued_.back();
      queued_.pop_back();
      waiter->queued_ = false;
      waiter->wake(Wake::kReady);
    }
    if (deferred_.empty()) break;
    Deferred* work = deferred_.back();
    deferred_.pop_back();
    work->deferred_in_ = nullptr;
    work->run_deferred();
  }
  while (retired_ != nullptr) {
    Retirable* object = retired_;
    retired_ = object->next_retired_;
    delete object;
  }
  if (host_ != nullptr) host_->schedule();
}

}  // namespace edge::net
