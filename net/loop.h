// The loop of one thread: one epoll set of our own for the data connections, inside an Asio io_context that hosts
// everything cold (timers, signals, resolution). Edge-triggered: the kernel looks at a socket once an event, and
// Channel remembers what it said. The clock is read once a batch. A backend for io_uring would stand behind Channel and
// Waiter.
//
// Threads: everything but `post` and `stop` belongs to the loop's thread.
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

/// What is waited for on a channel. A hang-up or an error always wakes.
enum Interest : std::uint8_t { kHangUp = 0, kRead = 1, kWrite = 2 };

/// Why a wait ended. kCancelled is for ever: every later wait of that waiter ends so at once.
enum class Wake : std::uint8_t { kReady, kTimeout, kCancelled };

/// Freed at the end of the batch, when nobody who was woken in it holds it any more.
class Retirable {
 public:
  virtual ~Retirable() = default;

 private:
  friend class Loop;
  Retirable* next_retired_ = nullptr;
};

/// Work that is to be done once, after those who were woken in this batch had their turn.
class Deferred {
 public:
  /// Takes itself back.
  virtual ~Deferred();

 private:
  friend class Loop;
  virtual void run_deferred() = 0;
  Loop* deferred_in_ = nullptr;
};

/// A connection as sessions use it: a descriptor in the loop's epoll set, a layer above one, or a layer alone; with
/// what is known of its readiness.
class Channel : public Retirable {
 public:
  Channel() = default;
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() override;

  /// Takes the descriptor; `armed` is what epoll reports from the start, the rest once somebody waits for it.
  void open(Loop& loop, Fd fd, std::uint8_t armed = kRead);
  void open(Loop& loop, Transport transport, std::uint8_t armed = kRead);
  /// Puts a layer over the socket. What was received before went past it.
  void put(std::unique_ptr<Layer> layer);
  /// Leaves the set and closes the descriptor; what this batch still holds for it is dropped. Nobody may be waiting.
  void close();
  /// Leaves the set, for another channel to go on. Nobody may be waiting.
  Transport release();
  bool is_open() const { return fd_.valid() || layer_ != nullptr; }
  /// -1 where the layer is all there is.
  int fd() const { return fd_.get(); }
  Layer* layer() const { return layer_.get(); }

  /// Both directions are shut, or the connection is broken.
  bool hung_up() const { return hung_up_; }
  /// True when a receive is worth trying: epoll said so, and nothing since took all there was.
  bool readable() const { return (ready_ & kRead) != 0; }
  Transfer receive(std::span<char> into);
  /// Shows what is there without taking it; kWouldBlock when that is no more than the `seen` bytes of the last look.
  /// Not through a layer.
  Transfer peek(std::span<char> into, std::size_t seen);
  /// Lets other sessions have their turn: what is there is reported again in the next batch.
  void defer();
  /// Tried at once, without asking whether the descriptor can be written.
  Transfer send(std::span<const iovec> pieces);
  /// For who reads from one channel to send to another: as Layer::appetite. A socket takes what it takes.
  std::size_t appetite() { return layer_ == nullptr ? std::numeric_limits<std::size_t>::max() : appetite_of_layer(); }
  /// Tells the peer that no more will be sent. \returns false when the connection is broken.
  bool finish();
  /// Makes a later close look like a failure to the peer.
  void reset_on_close();

  /// From a layer over a socket: nothing is left to receive, in it or below; an event will tell of more.
  void exhausted() {
    if (!closing_) ready_ &= static_cast<std::uint8_t>(~kRead);
  }
  /// From a layer without a socket: `events` can be done from now on. Who waits is resumed at the end of the batch.
  void signal(std::uint8_t events);
  /// From a layer: the connection is broken, or both directions are shut.
  void signal_hang_up();

 protected:
  /// Has what is there reported once more, in the next batch.
  void report_again();
  /// An event that nobody waits for. It is remembered in any case.
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
  /// Reported, and not used up since.
  std::uint8_t ready_ = 0;
  /// The peer sends no more, so that reading never becomes "not ready" again.
  bool closing_ = false;
  bool hung_up_ = false;
  /// Among those that the loop signals in the next batch.
  bool put_off_ = false;
};

/// The one place where a session waits: for a descriptor or two, until a deadline.
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

  /// `co_await waiter.wait(...)`, at once ready when a hint says that something is there.
  Awaiter wait(Time deadline, Channel& channel, std::uint8_t interest);
  Awaiter wait(Time deadline, Channel& one, std::uint8_t interest_one, Channel& two, std::uint8_t interest_two);
  /// Until somebody calls `wake`, or the deadline.
  Awaiter wait(Time deadline);

  bool waiting() const { return static_cast<bool>(handle_); }
  /// Resumes the one who waits; nothing when nobody does.
  void wake(Wake why);
  /// The same, at the end of the batch: for callers whose own work is not to be interleaved with the other's.
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

  /// Serves until `stop`.
  void run();
  /// One round without waiting; for tests.
  void poll();
  /// From any thread.
  void stop();
  /// Runs `work` on the loop's thread, between two batches. From any thread.
  void post(std::function<void()> work);

  /// The time at which this batch began.
  Time now() const { return now_; }
  TimerWheel& timers() { return timers_; }
  void retire(std::unique_ptr<Retirable> object);
  /// Has `work` run once, when nobody is left who was woken in this batch.
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
