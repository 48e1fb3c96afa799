#include "net/http2/incoming_text.h"

#include <algorithm>
#include <cstring>

#include "net/http1/chunked.h"
#include "net/http2/field_rules.h"

namespace edge::net::http2 {
namespace {

constexpr std::size_t kMaxTrailers = std::size_t{16} * 1024;
/// Of a trailer section, fields that are dropped included.
constexpr std::size_t kMaxDecoded = kBombFactor * kMaxTrailers;
/// The least room in which a chunk is framed: its size line, a byte and CRLF.
constexpr std::size_t kLeastChunk = http1::kMaxChunkHead + 3;

}  // namespace

bool IncomingText::add_trailer(std::string_view name, std::string_view value) {
  const std::size_t size = section_size(name, value);
  if (size > kMaxDecoded - decoded_) return false;
  decoded_ += static_cast<std::uint32_t>(size);
  if (!valid_name(name) || !valid_value(value) || connection_specific(name, value)) return false;
  // A body of announced length has no place for them in HTTP/1.1 (announces_trailers).
  if (!chunked_ || !passes_as_trailer(name)) return true;
  if (trailers_ == nullptr) trailers_ = std::make_unique<std::string>();
  if (trailers_->size() + name.size() + value.size() + 4 > kMaxTrailers) return false;
  trailers_->append(name).append(": ").append(value).append("\r\n");
  return true;
}

IncomingText::Taken IncomingText::take(std::span<char> into) {
  Taken taken;
  taken.text = take_text(into);
  if (text_.empty() && !data_.empty()) {
    const Taken more = take_data(into.subspan(taken.text));
    taken.text += more.text;
    taken.data = more.data;
  }
  if (text_.empty() && data_.empty() && ended_ && !end_written_) {
    end_written_ = true;
    if (chunked_) {
      text_.append(http1::kLastChunkLine);
      if (trailers_ != nullptr) text_.append(*trailers_);
      text_.append(http1::kChunkEnd);
      trailers_.reset();
      taken.text += take_text(into.subspan(taken.text));
    }
  }
  return taken;
}

std::size_t IncomingText::drop() {
  const std::size_t data = data_.size();
  text_.release();
  data_.release();
  trailers_.reset();
  return data;
}

std::size_t IncomingText::take_text(std::span<char> into) {
  const std::size_t size = std::min(text_.size(), into.size());
  if (size == 0) return 0;
  std::memcpy(into.data(), text_.view().data(), size);
  text_.consume(size);
  if (text_.empty()) text_.release();
  return size;
}

IncomingText::Taken IncomingText::take_data(std::span<char> into) {
  char head[http1::kMaxChunkHead];
  Taken taken;
  if (!chunked_) {
    taken.text = taken.data = std::min(data_.size(), into.size());
    std::memcpy(into.data(), data_.view().data(), taken.data);
  } else if (into.size() >= kLeastChunk) {
    taken.data = std::min(data_.size(), into.size() - kLeastChunk + 1);
    const std::size_t head_size = http1::write_chunk_head(taken.data, head);
    char* to = into.data();
    std::memcpy(to, head, head_size);
    std::memcpy(to + head_size, data_.view().data(), taken.data);
    std::memcpy(to + head_size + taken.data, http1::kChunkEnd.data(), http1::kChunkEnd.size());
    taken.text = head_size + taken.data + http1::kChunkEnd.size();
  } else {
    // No room for a frame around it: one byte, by way of text_.
    taken.data = 1;
    text_.append({head, http1::write_chunk_head(taken.data, head)});
    text_.append(data_.view().substr(0, taken.data));
    text_.append(http1::kChunkEnd);
    taken.text = take_text(into);
  }
  data_.consume(taken.data);
  if (data_.empty()) data_.release();
  return taken;
}

}  // namespace edge::net::http2
