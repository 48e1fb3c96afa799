// A copy of a request on its way to another backend (filter RequestMirror), whose answer is thrown away.
//
// It is an exchange of its own: a relay like any other, whose client is not a socket but what the original request
// sends on. So it can neither delay nor fail the original: what it does not take in time is the end of it.
#pragma once

#include <memory>
#include <string_view>

#include "net/buffer.h"
#include "net/byte_stream.h"
#include "net/loop.h"
#include "net/task.h"
#include "runtime/session/client_session.h"
#include "runtime/session/counters.h"
#include "runtime/session/exchange.h"
#include "runtime/session/failure.h"
#include "runtime/session/mirror_feed.h"

namespace edge::runtime {

class Worker;

class Mirror final : public ClientSession {
 public:
  /// `original` lends its program, rule and framing, `head` is what its own upstream is sent.
  Mirror(Worker& worker, const Exchange& original, BackendPool& pool, std::string_view head,
         std::shared_ptr<MirrorFeed> feed);

  /// Runs until the answer has come, then has the worker forget it.
  void start() { run(); }
  void drain() override { cancel(); }
  void cancel() override { waiter_.cancel(); }

 private:
  net::Detached run();
  net::Task<Failure> send();

  Worker& worker_;
  Exchange exchange_;
  net::Buffer head_;
  std::shared_ptr<MirrorFeed> feed_;
  net::Channel source_;
  net::Inlet inlet_;
  net::Outlet outlet_;
  net::Waiter waiter_;
  /// Its interim responses are nobody's.
  Counters counters_;
};

}  // namespace edge::runtime
