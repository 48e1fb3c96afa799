#include "net/http2/response_text.h"

#include "net/http1/write.h"
#include "net/http2/field_rules.h"

namespace edge::net::http2 {

void ResponseText::begin(Buffer& out) {
  out_ = &out;
  written_ = 0;
  status_ = 0;
  has_length_ = chunked_ = false;
}

ResponseText::Fault ResponseText::add(std::string_view name, std::string_view value) {
  if (!valid_value(value)) return Fault::kMalformed;
  if (name.starts_with(':')) return name == ":status" ? add_status(value) : Fault::kMalformed;
  if (status_ == 0 || !valid_name(name) || connection_specific(name, value)) return Fault::kMalformed;
  if (name == "content-length") {
    // No body can be there to be measured (RFC 9110 §8.6).
    if (status_ < 200 || status_ == 204) return Fault::kNone;
    has_length_ = true;
  }
  written_ += name.size() + value.size() + 4;
  if (written_ > max_bytes_) return Fault::kTooLarge;
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
  char line[64];
  http1::HeadWriter writer(line, sizeof(line));
  writer.status_line(status_, http1::status_phrase(status_));
  out_->append(writer.text());
  return Fault::kNone;
}

ResponseText::Fault ResponseText::finish(bool end_of_stream, http1::Method method) {
  if (status_ == 0 || (status_ < 200 && end_of_stream)) return Fault::kMalformed;
  const bool bodiless = status_ < 200 || status_ == 204 || status_ == 304 || method == http1::Method::kHead;
  if (!bodiless && !has_length_) {
    chunked_ = !end_of_stream;
    out_->append(chunked_ ? "transfer-encoding: chunked\r\n" : "content-length: 0\r\n");
  }
  out_->append("\r\n");
  return Fault::kNone;
}

bool passes_as_trailer(std::string_view name) { return http1::recognise_field(name) == http1::KnownField::kOther; }

}  // namespace edge::net::http2
