// Messages of gRPC that are plain text. For the .cc files of this folder alone.
#pragma once

#include <string>
#include <string_view>

#include <grpcpp/support/byte_buffer.h>

namespace edge::test {

inline grpc::ByteBuffer message_of(std::string_view text) {
  const grpc::Slice slice(text.data(), text.size());
  return {&slice, 1};
}

inline std::string text_of(const grpc::ByteBuffer& message) {
  std::vector<grpc::Slice> slices;
  if (!message.Dump(&slices).ok()) return "unreadable";
  std::string text;
  for (const grpc::Slice& slice : slices) text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

}  // namespace edge::test
