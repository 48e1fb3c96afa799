// The event loop of one thread: an epoll set for the data connections, inside an Asio io_context for everything else
// (timers, signals, resolution). Edge-triggered: the kernel reports a socket once per event, and Channel remembers the
// readiness. The clock is read once per batch. An io_uring backend would be hidden behind Channel and Waiter.
//
// Threads: everything but `post` and `stop` is for the loop's thread.
#pragma once

#include <array>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "net/clock.h"
#include "net/layer.h"
#include "net/socket.h"
#include "net/timer_wheel.h"

namespace boost::asio {
class io_context;
}

namespace edge::net {

class Loop;
class Waiter;

/// The events to wait for on a channel. A hang-up or an error always wakes.
enum Interest : std::uint8_t { kHangUp = 0, kRead = 1, kWrite = 2 };

/// Why a wait ended. kCancelled is permanent: every later wait of that waiter ends so at once.
enum class Wake : std::uint8_t { kReady, kTimeout, kCancelled };

/// Freed at the end of the batch, when no coroutine woken in it can refer to it any more.
class Retirable {
 public:
  virtual ~Retirable() = default;

 private:
  friend class Loop;
  Retirable* next_retired_ = nullptr;
};

/// Work to be done once, after the coroutines woken in this batch have run.
class Deferred {
 public:
  /// Cancels the work.
  virtual ~Deferred();

 private:
  friend class Loop;
  virtual void run_deferred() = 0;
  Loop* deferred_in_ = nullptr;
};

/// A connection: a descriptor in the loop's epoll set, a layer above one, or only a layer; with the known readiness.
class Channel : public Retirable {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() override;

  /// Takes the descriptor; `armed` are the events that epoll reports from the start, others once they are waited for.
  void open(Loop& loop, Fd fd, std::uint8_t armed = kRead);
  void open(Loop& loop, Transport transport, std::uint8_t armed = kRead);
  /// Puts a layer over the socket. Bytes received before did not pass through it.
  void put(std::unique_ptr<Layer> layer);
  /// Leaves the set and closes the descriptor; pending events of this batch are dropped. No coroutine may be waiting.
  void close();
  /// Leaves the set, and returns descriptor and layer for another channel. No coroutine may be waiting.
  Transport release();
  bool is_open() const { return fd_.valid() || layer_ != nullptr; }
  /// -1 for a channel with a layer only.
  int fd() const { return fd_.get(); }
  Layer* layer() const { return layer_.get(); }

  /// Whether both directions are shut, or the connection is broken.
  bool hung_up() const { return hung_up_; }
  /// Whether a receive is worth trying: epoll reported data, and not all was read since.
  bool readable() const { return (ready_ & kRead) != 0; }
  Transfer receive(std::span<char> into);
  /// Receives without consuming; kWouldBlock when there are no more bytes than `seen`, the result of the last call. Not
  /// through a layer.
  Transfer peek(std::span<char> into, std::size_t seen);
  /// Lets other sessions run: available data is reported again in the next batch.
  void defer();
  /// Sends at once, without waiting for writability.
  Transfer send(std::span<const iovec> pieces);
  /// For relaying from one channel to another: as Layer::appetite. Unlimited for a socket.
  std::size_t appetite() { return layer_ == nullptr ? std::numeric_limits<std::size_t>::max() : appetite_of_layer(); }
  /// Closes the sending direction. \returns false when the connection is broken.
  bool finish();
  /// Makes a later close visible to the peer as a failure.
  void reset_on_close();

  /// Called by a layer over a socket: nothing is left to receive, in it or below; an event will follow.
  void exhausted() {
    if (!closing_) ready_ &= static_cast<std::uint8_t>(~kRead);
  }
  /// Called by a layer without a socket: `events` are possible from now on. A waiting coroutine is resumed at the end
  /// of the batch.
  void signal(std::uint8_t events);
  /// Called by a layer: the connection is broken, or both directions are shut.
  void signal_hang_up();

 protected:
  /// Makes available data be reported again, in the next batch.
  void report_again();
  /// Called for an event while no coroutine waits. The readiness is remembered in any case.
  virtual void unattended(std::uint8_t /*events*/) {}

 private:
  friend class Loop;
  friend class Waiter;
  void arm(std::uint8_t interest);
  void control(int operation);
  void leave_set(const Fd& fd) const;
  void handle(std::uint32_t epoll_events);
  void prefetch() const;
  void prefetch_waiter() const;
  void prefetch_frame() const;
  Transfer receive_layered(std::span<char> into);
  Transfer send_layered(std::span<const iovec> pieces);
  std::size_t appetite_of_layer();

  Loop* loop_ = nullptr;
  Waiter* waiter_ = nullptr;
  std::unique_ptr<Layer> layer_;
  Fd fd_;
  std::uint8_t wanted_ = 0;
  std::uint8_t armed_ = 0;
  /// Reported, and not consumed since.
  std::uint8_t ready_ = 0;
  /// The peer has closed, so that reading never becomes "not ready" again.
  bool closing_ = false;
  bool hung_up_ = false;
  /// To be signalled by the loop in the next batch.
  bool put_off_ = false;
};

/// Suspends a session: until events on one or two channels, or a deadline.
class Waiter : private TimerNode {
 public:
  explicit Waiter(Loop& loop) : loop_(loop) {}
  ~Waiter() override;

  class Awaiter {
   public:
    bool await_ready() const noexcept { return ready_; }
    void await_suspend(std::coroutine_handle<> handle) { waiter_.suspend(handle, deadline_); }
    Wake await_resume() const noexcept { return ready_ ? result_ : waiter_.result_; }

   private:
    friend class Waiter;
    Awaiter(Waiter& waiter, Time deadline) : waiter_(waiter), deadline_(deadline) {}
    Waiter& waiter_;
    Time deadline_;
    bool ready_ = false;
    Wake result_ = Wake::kReady;
  };

  /// `co_await waiter.wait(...)`, completes at once when the channel is known to be ready.
  Awaiter wait(Time deadline, Channel& channel, std::uint8_t interest);
  Awaiter wait(Time deadline, Channel& one, std::uint8_t interest_one, Channel& two, std::uint8_t interest_two);
  /// Waits until `wake` is called, or the deadline.
  Awaiter wait(Time deadline);

  bool waiting() const { return static_cast<bool>(handle_); }
  /// Resumes the waiting coroutine, if any.
  void wake(Wake why);
  /// The same at the end of the batch: for callers whose work must not be interleaved with it.
  void wake_later();
  /// Ends this wait and all later ones.
  void cancel();
  bool cancelled() const { return cancelled_; }

 private:
  friend class Channel;
  friend class Loop;
  void watch(std::size_t index, Channel& channel, std::uint8_t interest);
  void suspend(std::coroutine_handle<> handle, Time deadline);
  void expired() override { wake(Wake::kTimeout); }

  Loop& loop_;
  std::coroutine_handle<> handle_{};
  std::array<Channel*, 2> channels_{};
  Wake result_ = Wake::kReady;
  bool cancelled_ = false;
  bool queued_ = false;
};

class Loop {
 public:
  /// `clock` must outlive the loop; null: the steady clock.
  explicit Loop(const Clock* clock = nullptr);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Runs until `stop`.
  void run();
  /// Runs one round without waiting; for tests.
  void poll();
  /// Any thread.
  void stop();
  /// Runs `work` on the loop's thread, between two batches. Any thread.
  void post(std::function<void()> work);

  /// Returns the time at which this batch began.
  Time now() const { return now_; }
  TimerWheel& timers() { return timers_; }
  void retire(std::unique_ptr<Retirable> object);
  /// Runs `work` once, after all coroutines woken in this batch.
  void defer(Deferred& work);
  boost::asio::io_context& context();

 private:
  friend class Channel;
  friend class Deferred;
  friend class Waiter;
  struct Host;  // the Asio side

  void enter();
  void leave();
  void batch();
  void unqueue(Waiter& waiter);
  void put_off(Channel& channel);
  void signal_put_off();

  const Clock* clock_;
  Time now_;
  TimerWheel timers_;
  Fd epoll_;
  std::vector<Waiter*> queued_;
  std::vector<Deferred*> deferred_;
  std::vector<Channel*> put_off_;
  Retirable* retired_ = nullptr;
  std::unique_ptr<Host> host_;
};

}  // namespace edge::net
