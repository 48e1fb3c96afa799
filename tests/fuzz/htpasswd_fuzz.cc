// Any bytes as an htpasswd file: every user that is read can be asked for, with a hash of a form that is known, and no
// fault quotes what stands in the file.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>

#include "runtime/policy/auth/basic/htpasswd.h"
#include "tests/fuzz/require.h"

using namespace edge::runtime::auth;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto exact = std::make_unique<char[]>(size);
  std::copy(data, data + size, exact.get());
  const std::string_view text(exact.get(), size);
  const Htpasswd file = Htpasswd::read(text);
  require((file.decoy() == nullptr) == (file.size() == 0));
  require(file.faults().size() <= 21);
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) (void)file.find(text.substr(0, colon));
  // What costs little is computed too; bcrypt would leave no time for anything else.
  if (file.decoy() != nullptr && file.decoy()->kind() != PasswordHash::Kind::kBcrypt) (void)file.decoy()->verify("x");
  return 0;
}
