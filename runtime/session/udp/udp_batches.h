// What the UDP listeners of one thread share: buffers that datagrams are received into, and answers that wait to be
// sent together at the end of the loop's batch.
#pragma once

#include <cstddef>
#include <memory>

#include "net/datagrams.h"
#include "net/loop.h"

namespace edge::runtime {

class UdpListener;

class UdpBatches final : private net::Deferred {
 public:
  /// Most datagrams that are received at once, of clients and of one endpoint.
  static constexpr std::size_t kRequests = 32;
  static constexpr std::size_t kAnswers = 8;

  explicit UdpBatches(net::Loop& loop) : loop_(loop), requests_(kRequests), answers_(4 * kAnswers) {}
  UdpBatches(const UdpBatches&) = delete;
  UdpBatches& operator=(const UdpBatches&) = delete;

  /// Of clients.
  net::DatagramBuffers& requests() { return requests_; }
  /// To one endpoint; left empty.
  net::DatagramQueue& to_endpoint() { return to_endpoint_; }

  struct Received {
    std::size_t first = 0;
    std::size_t count = 0;
    int error = 0;  ///< when there are none
  };
  /// Receives at most kAnswers of an endpoint. They stay until flush().
  Received receive_answers(int fd);
  net::Datagrams answer_at(std::size_t slot) const { return answers_.at(slot); }
  /// Has an answer of receive_answers() sent to a client of the listener.
  void answer(const std::shared_ptr<UdpListener>& listener, const net::DatagramQueue::Target& to,
              const net::Datagrams& datagrams);
  /// Sends what waits, before the end of the batch.
  void flush();

 private:
  void run_deferred() override { flush(); }

  net::Loop& loop_;
  net::DatagramBuffers requests_;
  net::DatagramQueue to_endpoint_;
  net::DatagramBuffers answers_;
  /// Slots of answers_ that hold what waits.
  std::size_t used_ = 0;
  net::DatagramQueue to_clients_;
  /// Whose clients they are for.
  std::shared_ptr<UdpListener> listener_;
};

}  // namespace edge::runtime
