#include "net/http1/head_parser.h"

namespace edge::net::http1 {

const Parsers& scalar_parsers() {
  static constexpr Parsers kParsers{HeadParser<ScalarScan>::request, HeadParser<ScalarScan>::response, 0};
  return kParsers;
}

}  // namespace edge::net::http1
