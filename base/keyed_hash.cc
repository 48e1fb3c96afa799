#include "base/keyed_hash.h"

#include <sys/random.h>

#include <cstdlib>

namespace edge {

HashKey HashKey::random() {
  HashKey key;
  // Without random bytes no handshake would succeed either.
  if (::getrandom(&key, sizeof key, 0) != static_cast<ssize_t>(sizeof key)) std::abort();
  return key;
}

}  // namespace edge
