// A request without a waiting client: a mirrored copy (filter RequestMirror), or the refresh of a stored response.
#pragma once

#include <memory>

#include "net/byte_stream.h"
#include "net/loop.h"
#include "net/task.h"
#include "runtime/session/client_session.h"
#include "runtime/session/thread_program.h"
#include "runtime/shape/cache/transaction.h"
#include "runtime/upstream/forward.h"

namespace edge::runtime {

class Worker;

class BackgroundRequest final : public ClientSession {
 public:
  /// What happens to it when the server drains.
  enum class Drain : std::uint8_t { kGoOn, kCancel };

  /// `client` takes the place of the client's connection.
  BackgroundRequest(Worker& worker, ProgramPin program, std::unique_ptr<net::Layer> client, Drain drain);

  ForwardRequest& request() { return request_; }
  net::Channel& client() { return client_; }
  /// Each runs until the request has ended, then has the worker free it.
  net::Detached copy(std::shared_ptr<MirrorFeed> feed);
  net::Detached refresh(std::unique_ptr<cache::Transaction> cache);

  void drain() override {
    if (drain_ == Drain::kCancel) cancel();
  }
  void cancel() override { waiter_.cancel(); }

 private:
  ForwardFor lend(ForwardCounts& counts);

  Worker& worker_;
  ProgramPin program_;
  ForwardRequest request_;
  net::Channel client_;
  net::Inlet inlet_;
  net::Outlet outlet_;
  net::Waiter waiter_;
  Drain drain_;
};

/// Starts the mirrored copies of a request that is about to be forwarded.
void mirror_in_background(Worker& worker, const ProgramPin& program, const LoadedHost& host, ForwardRequest& request);

/// Starts the request again in the background, to update the cache (RFC 5861 §3).
void refresh_in_background(Worker& worker, const ProgramPin& program, const ForwardRequest& request,
                           std::unique_ptr<cache::Transaction> refresh);

}  // namespace edge::runtime
