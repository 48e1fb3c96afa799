// Any bytes as a key set: read in bounds, and no key in it takes a MAC or an empty signature.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "runtime/policy/auth/jwt/jwk.h"
#include "tests/fuzz/require.h"

using namespace edge::runtime::auth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto exact = std::make_unique<char[]>(size);
  std::copy(data, data + size, exact.get());
  const auto set = read_key_set({exact.get(), size});
  if (!set) return 0;
  require(set->keys.size() + set->unusable <= kMaxKeys);
  for (const Key& key : set->keys) {
    require(!key.fits(Algorithm::kHs256) && !key.fits(Algorithm::kHs384) && !key.fits(Algorithm::kHs512));
    for (const Algorithm algorithm : {Algorithm::kRs256, Algorithm::kPs256, Algorithm::kEs256, Algorithm::kEdDsa}) {
      require(!key.verify(algorithm, "text", ""));
    }
  }
  return 0;
}
