// For tests: parses with every instruction set that this machine has, from buffers without a spare byte, and holds the
// results against each other.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/http1/parsers.h"

namespace edge::net::http1 {

template <typename Head>
struct Parsed {
  ParseResult result;
  std::unique_ptr<Head> head;
  /// What the views point into.
  std::unique_ptr<char[]> bytes;
};

Parsed<RequestHead> parse_request_all_ways(std::string_view text, const HeadLimits& limits = {});
Parsed<ResponseHead> parse_response_all_ways(std::string_view text, Method method = Method::kGet,
                                             const HeadLimits& limits = {});

}  // namespace edge::net::http1
