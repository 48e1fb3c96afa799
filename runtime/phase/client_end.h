// The client's side of an exchange: where the request's body comes from and the response goes.
#pragma once

#include "net/byte_stream.h"
#include "net/loop.h"

namespace edge::runtime {

struct ClientEnd {
  net::Channel& channel;
  net::Inlet& inlet;
  net::Outlet& outlet;
  /// The one place where the exchange waits.
  net::Waiter& waiter;
};

}  // namespace edge::runtime
