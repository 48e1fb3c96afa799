#include "net/http2/request_text.h"

#include <charconv>

#include "base/hash.h"
#include "base/text/ascii.h"
#include "net/http1/char_tables.h"
#include "net/http2/field_rules.h"
#include "net/http2/tcp_tunnel.h"

namespace edge::net::http2 {
namespace {

using http1::all_of_class;

bool expects_content(std::string_view method) { return method == "POST" || method == "PUT" || method == "PATCH"; }

}  // namespace

void RequestText::begin(Buffer& out) {
  out_ = &out;
  pseudo_.release();
  cookie_.release();
  length_.reset();
  method_ = scheme_ = authority_ = path_ = protocol_ = {};
  decoded_ = 0;
  in_fields_ = has_host_ = has_trailers_ = cut_off_ = false;
  head_only_ = false;
  body_ = BodyForm::kNone;
}

void RequestText::write(std::string_view text) {
  // One byte over the limit is enough for the parser to see that there is no end in sight.
  if (out_->size() > max_bytes_) {
    cut_off_ = true;
    return;
  }
  out_->append(text);
}

void RequestText::line(std::string_view name, std::string_view value) {
  const std::size_t size = name.size() + value.size() + 4;
  if (out_->size() + size > 2 * max_bytes_) {
    // A single value that is larger than all of the head may be.
    cut_off_ = true;
    return;
  }
  write(name);
  write(": ");
  write(value);
  write("\r\n");
}

void RequestText::line(std::string_view name, std::uint64_t number) {
  char digits[20];
  const auto [end, error] = std::to_chars(digits, digits + sizeof(digits), number);
  line(name, {digits, static_cast<std::size_t>(end - digits)});
}

RequestText::Fault RequestText::add(std::string_view name, std::string_view value) {
  decoded_ += section_size(name, value);
  if (decoded_ > kBombFactor * max_bytes_ + section_size({}, {}) * kBombFactor) return Fault::kBomb;
  if (!valid_value(value)) return Fault::kMalformed;
  if (name.starts_with(':')) return add_pseudo(name, value);
  if (!valid_name(name) || connection_specific(name, value)) return Fault::kMalformed;
  if (!in_fields_) {
    if (const Fault fault = begin_fields(); fault != Fault::kNone) return fault;
  }
  if (name == "cookie") {
    add_cookie(value);
    return Fault::kNone;
  }
  if (name == "host") {
    if (!valid_authority(value)) return Fault::kMalformed;
    // The Host line stands for :authority already; both must name one host (RFC 9113 §8.3.1).
    if (authority_.given) return equals_ignoring_case(text(authority_), value) ? Fault::kNone : Fault::kMalformed;
    if (has_host_) return Fault::kMalformed;
    has_host_ = true;
  }
  // Ours stands there already.
  if (body_ == BodyForm::kRaw && name == "sec-websocket-key") return Fault::kNone;
  if (name == "content-length") {
    // A tunnel has no length (RFC 8441 §5 makes it a CONNECT; RFC 9110 §9.3.6).
    if (body_ == BodyForm::kRaw) return Fault::kMalformed;
    // Two of them, or what is no number, are the parser's to refuse.
    if (const auto length = length_of(value); length && !length_) {
      length_ = length;
      return Fault::kNone;
    }
  }
  has_trailers_ |= announces_trailers(name, value);
  line(name, value);
  return Fault::kNone;
}

RequestText::Fault RequestText::add_pseudo(std::string_view name, std::string_view value) {
  if (in_fields_) return Fault::kMalformed;
  Part* part = nullptr;
  if (name == ":method") part = &method_;
  if (name == ":scheme") part = &scheme_;
  if (name == ":authority") part = &authority_;
  if (name == ":path") part = &path_;
  if (name == ":protocol") part = &protocol_;
  if (part == nullptr || part->given) return Fault::kMalformed;
  part->given = true;
  part->begin = static_cast<std::uint32_t>(pseudo_.size());
  part->size = static_cast<std::uint32_t>(value.size());
  pseudo_.append(value);
  return Fault::kNone;
}

// All pseudo-fields are known: the request line and Host.
RequestText::Fault RequestText::begin_fields() {
  in_fields_ = true;
  const std::string_view method = text(method_);
  if (method.empty() || !all_of_class(method, http1::kTokenChar)) return Fault::kMalformed;
  // An empty :authority says that there is none.
  if (authority_.size == 0) authority_.given = false;
  if (authority_.given && !valid_authority(text(authority_))) return Fault::kMalformed;
  if (method == "CONNECT") return begin_connect();
  if (protocol_.given) return Fault::kMalformed;
  head_only_ = method == "HEAD";
  const std::string_view scheme = text(scheme_);
  if (!equals_ignoring_case(scheme, "https") && !equals_ignoring_case(scheme, "http")) return Fault::kMalformed;
  const std::string_view path = text(path_);
  // Never the absolute form: it would name the host once more.
  if (!valid_target(path) || (path.front() != '/' && (path != "*" || method != "OPTIONS"))) return Fault::kMalformed;
  write(method);
  write(" ");
  write(path);
  write(" HTTP/1.1\r\n");
  has_host_ = authority_.given;
  if (has_host_) line("host", text(authority_));
  return Fault::kNone;
}

// CONNECT has neither scheme nor path, and the parser refuses it, unless it is taken; with :protocol it has all of them
// and is an upgrade.
RequestText::Fault RequestText::begin_connect() {
  if (!authority_.given) return Fault::kMalformed;
  if (!protocol_.given) {
    if (scheme_.given || path_.given) return Fault::kMalformed;
    if (takes_connect_) {
      body_ = BodyForm::kRaw;
      write("GET / HTTP/1.1\r\nconnection: upgrade\r\n");
      line("upgrade", kTcpTunnel);
    } else {
      write("CONNECT ");
      write(text(authority_));
      write(" HTTP/1.1\r\n");
    }
  } else {
    const std::string_view path = text(path_);
    if (!scheme_.given || !valid_target(path) || path.front() != '/') return Fault::kMalformed;
    if (text(protocol_) != "websocket") return Fault::kMalformed;
    body_ = BodyForm::kRaw;
    write("GET ");
    write(path);
    write(" HTTP/1.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n");
    write_web_socket_key();
  }
  has_host_ = true;
  line("host", text(authority_));
  return Fault::kNone;
}

// The key proves nothing over HTTP/2, but a backend of HTTP/1.1 wants one, another each time (RFC 6455 §4.1): 16 bytes
// in base64. Its answer is not passed on.
void RequestText::write_web_socket_key() {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char key[24];
  for (char& digit : key) {
    seed_ = hash_bytes(seed_, "key");
    digit = kDigits[seed_ % kDigits.size()];
  }
  // The last digit holds two bits of the sixteenth byte; two more would be those of a seventeenth.
  key[21] = kDigits[seed_ % 4 * 16];
  key[22] = key[23] = '=';
  line("sec-websocket-key", {key, sizeof(key)});
}

// A cookie may come in pieces, for HPACK's sake; outside HTTP/2 it is one field (RFC 9113 §8.2.3).
void RequestText::add_cookie(std::string_view value) {
  if (cookie_.size() + value.size() > max_bytes_) {
    cut_off_ = true;
    return;
  }
  if (!cookie_.empty()) cookie_.append("; ");
  cookie_.append(value);
}

RequestText::Fault RequestText::finish(bool end_of_stream) {
  if (!in_fields_) {
    if (const Fault fault = begin_fields(); fault != Fault::kNone) return fault;
  }
  if (!cookie_.empty()) line("cookie", cookie_.view());
  if (body_ != BodyForm::kRaw) {
    if (!end_of_stream && (!length_ || has_trailers_)) {
      body_ = BodyForm::kChunked;
      write("transfer-encoding: chunked\r\n");
    } else if (length_) {
      body_ = BodyForm::kLength;
      line("content-length", *length_);
    } else if (expects_content(text(method_))) {
      // Many a server asks for a length here (RFC 9110 §8.6).
      write("content-length: 0\r\n");
    }
  }
  if (cut_off_) {
    // No end, and more than the parser takes: it answers for us.
    while (out_->size() <= max_bytes_) out_->append("x: y\r\n");
  } else {
    out_->append("\r\n");
  }
  pseudo_.release();
  cookie_.release();
  return Fault::kNone;
}

}  // namespace edge::net::http2
