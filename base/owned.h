// Objects of C libraries, each given back by a function of its library.
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

/// `Owned<BIO, BIO_free>`. What `kRelease` returns nobody looks at; null is not given to it.
template <typename T, auto kRelease>
using Owned = std::unique_ptr<T, ReleaseBy<kRelease>>;

}  // namespace edge
