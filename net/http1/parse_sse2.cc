#if defined(__x86_64__)
#include "net/http1/head_parser.h"

namespace edge::net::http1 {

const Parsers& sse2_parsers() {
  static constexpr Parsers kParsers{HeadParser<Sse2Scan>::request, HeadParser<Sse2Scan>::response,
                                    static_cast<std::size_t>(Sse2Scan::kWidth)};
  return kParsers;
}

}  // namespace edge::net::http1
#endif
