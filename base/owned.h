// Owning pointers for objects of C libraries, released by a function of the library.
#pragma once

#include <memory>

namespace edge {

template <auto kRelease>
struct ReleaseBy {
  template <typename T>
  void operator()(T* object) const {
    kRelease(object);
  }
};

/// `Owned<BIO, BIO_free>`. The result of `kRelease` is ignored; it is not called for null.
template <typename T, auto kRelease>
using Owned = std::unique_ptr<T, ReleaseBy<kRelease>>;

}  // namespace edge
