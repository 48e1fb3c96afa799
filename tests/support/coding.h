// Content codings undone, with the libraries' own decoders.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::test {

/// What `bytes` hold under the Content-Encoding `coding` (`gzip` or `br`; any other: the bytes). A stream that has not
/// ended gives what can be known of it, unless `whole` is asked for.
Result<std::string> decode_content(std::string_view coding, std::string_view bytes, bool whole);

}  // namespace edge::test
