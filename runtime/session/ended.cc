// The one place where an exchange tells what became of it: of HTTP/1 and of a stream of HTTP/2, forwarded, answered by
// the cache or by the proxy itself, broken off. Whoever looks on is told here, and none of them waits or locks.
#include "runtime/session/session.h"
#include "runtime/session/worker.h"

namespace edge::runtime {

// `exchange.began` to the loop's time is how long it took. Listener, host and pool are null where it did not come so
// far.
void Session::ended(const Exchange& /*exchange*/, const Ending& /*ending*/) {}

}  // namespace edge::runtime
