// Working memory of one thread; never kept across a suspension.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include "net/http1/head.h"
#include "net/http1/parse.h"

namespace edge::runtime {

struct Scratch {
  explicit Scratch(const net::http1::HeadLimits& head_limits)
      : limits(head_limits),
        client_size(std::max(kTransfer, limits.max_bytes + 1)),
        head_size(2 * limits.max_bytes + kHeadRoom),
        client_(std::make_unique_for_overwrite<char[]>(client_size)),
        upstream_(std::make_unique_for_overwrite<char[]>(kTransfer)),
        head_(std::make_unique_for_overwrite<char[]>(head_size)),
        path_(std::make_unique_for_overwrite<char[]>(limits.max_bytes + 1)) {}

  /// Buffers for receiving from clients and from upstreams.
  std::span<char> client() { return {client_.get(), client_size}; }
  std::span<char> upstream() { return {upstream_.get(), kTransfer}; }
  /// The buffer for composing heads: room for a head and all that filters add to it.
  std::span<char> head() { return {head_.get(), head_size}; }
  char* path() { return path_.get(); }

  net::http1::HeadLimits limits;
  net::http1::RequestHead request;
  net::http1::ResponseHead response;
  char host[256];

 private:
  static constexpr std::size_t kTransfer = 128 * 1024;
  static constexpr std::size_t kHeadRoom = 64 * 1024;
  std::size_t client_size;
  std::size_t head_size;
  std::unique_ptr<char[]> client_;
  std::unique_ptr<char[]> upstream_;
  std::unique_ptr<char[]> head_;
  std::unique_ptr<char[]> path_;
};

}  // namespace edge::runtime
