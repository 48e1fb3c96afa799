#include "net/http2/response_text.h"

#include "net/http1/write.h"
#include "net/http2/field_rules.h"
#include "net/http2/tcp_tunnel.h"

namespace edge::net::http2 {

void ResponseText::begin(Buffer& out, const std::string* accept) {
  out_ = &out;
  accept_ = accept;
  written_ = decoded_ = 0;
  status_ = 0;
  length_.reset();
  has_trailers_ = chunked_ = false;
}

ResponseText::Fault ResponseText::add(std::string_view name, std::string_view value) {
  decoded_ += section_size(name, value);
  if (decoded_ > kBombFactor * max_bytes_) return Fault::kTooLarge;
  if (!valid_value(value)) return Fault::kMalformed;
  if (name.starts_with(':')) return name == ":status" ? add_status(value) : Fault::kMalformed;
  if (status_ == 0 || !valid_name(name) || connection_specific(name, value)) return Fault::kMalformed;
  // Ours stands there already.
  if (switches() && name == "sec-websocket-accept") return Fault::kNone;
  if (name == "content-length") {
    // No body can be there to be measured (RFC 9110 §8.6).
    if (status_ < 200 || status_ == 204 || switches()) return Fault::kNone;
    // Two of them, or what is no number, are the parser's to refuse.
    if (const auto length = length_of(value); length && !length_) {
      length_ = length;
      return Fault::kNone;
    }
  }
  has_trailers_ |= announces_trailers(name, value);
  written_ += name.size() + value.size() + 4;
  // Interim heads lie here too until they are read, and many come in one batch.
  if (written_ > max_bytes_ || out_->size() > kBombFactor * max_bytes_) return Fault::kTooLarge;
  out_->append(name);
  out_->append(": ");
  out_->append(value);
  out_->append("\r\n");
  return Fault::kNone;
}

ResponseText::Fault ResponseText::add_status(std::string_view value) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool good = status_ == 0 && value.size() == 3 && digit(value[0]) && digit(value[1]) && digit(value[2]);
  if (!good) return Fault::kMalformed;
  status_ = (value[0] - '0') * 100 + (value[1] - '0') * 10 + (value[2] - '0');
  // There is no upgrade in HTTP/2 (RFC 9113 §8.6).
  if (status_ < 100 || status_ > 599 || status_ == 101) return Fault::kMalformed;
  char line[160];
  http1::HeadWriter writer(line, sizeof(line));
  const int status = switches() ? 101 : status_;
  writer.status_line(status, http1::status_phrase(status));
  if (switches()) {
    writer.lines("connection: upgrade\r\n");
    writer.field("upgrade", accept_->empty() ? kTcpTunnel : "websocket");
    if (!accept_->empty()) writer.field("sec-websocket-accept", *accept_);
  }
  out_->append(writer.text());
  return Fault::kNone;
}

ResponseText::Fault ResponseText::finish(bool end_of_stream, http1::Method method) {
  if (status_ == 0 || (status_ < 200 && end_of_stream)) return Fault::kMalformed;
  const bool bodiless = status_ < 200 || status_ == 204 || status_ == 304 || method == http1::Method::kHead;
  if (switches()) {
    chunked_ = false;
    out_->append("\r\n");
    return Fault::kNone;
  }
  chunked_ = !bodiless && !end_of_stream && (!length_ || has_trailers_);
  char line[64];
  http1::HeadWriter writer(line, sizeof(line));
  if (chunked_) {
    writer.field("transfer-encoding", "chunked");
  } else if (length_ || !bodiless) {
    writer.field("content-length", length_.value_or(0));
  }
  out_->append(writer.text());
  out_->append("\r\n");
  return Fault::kNone;
}

}  // namespace edge::net::http2
