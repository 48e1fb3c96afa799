#include "runtime/policy/auth/forward/ext_authz.h"

#include <algorithm>

#include "base/text/ascii.h"
#include "base/text/protobuf_reader.h"
#include "base/text/protobuf_writer.h"

namespace edge::runtime::auth {
namespace {

constexpr std::size_t kFrameHead = 5;
/// Of one answer; more is malformed.
constexpr std::size_t kMostHeaders = 128;

/// Whether bytes are UTF-8 (RFC 3629), as a `string` has to be.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<std::uint8_t>(text[i]);
    const std::size_t more = first < 0x80   ? 0
                             : first < 0xc2 ? 4
                             : first < 0xe0 ? 1
                             : first < 0xf0 ? 2
                             : first < 0xf5 ? 3
                                            : 4;
    if (more == 4 || more >= text.size() - i) return false;
    std::uint32_t point = first & (more == 0 ? 0x7f : 0x3f >> more);
    for (std::size_t k = 1; k <= more; ++k) {
      const auto next = static_cast<std::uint8_t>(text[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      point = point << 6 | (next & 0x3f);
    }
    const bool overlong = (more == 2 && point < 0x800) || (more == 3 && point < 0x10000);
    if (overlong || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return false;
    i += more + 1;
  }
  return true;
}

void put_text(ProtobufWriter& out, unsigned field, std::string_view text) {
  if (text.empty()) return;
  if (is_utf8(text)) return out.text(field, text);
  std::string readable(text);
  for (char& c : readable) {
    if (static_cast<std::uint8_t>(c) >= 0x80) c = '!';
  }
  out.text(field, readable);
}

void put_number(ProtobufWriter& out, unsigned field, std::uint64_t value) {
  if (value != 0) out.number(field, value);
}

/// Calls `visit(field)` for each field; it returns false for one that is malformed.
template <typename Visit>
bool each_field(std::string_view message, Visit visit) {
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (!visit(*field)) return false;
  }
  return !reader.malformed();
}

/// The one message of a unary call; nullopt where there is another, or it is compressed.
std::optional<std::string_view> message_in(std::string_view body) {
  if (body.size() < kFrameHead || body.front() != 0) return std::nullopt;
  std::uint32_t size = 0;
  for (const char byte : body.substr(1, 4)) size = size << 8 | static_cast<std::uint8_t>(byte);
  body.remove_prefix(kFrameHead);
  if (body.size() != size) return std::nullopt;
  return body;
}

bool is_token(std::string_view name) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::ranges::all_of(name, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  });
}

bool is_line(std::string_view value) {
  return std::ranges::none_of(value, [](char c) {
    const auto byte = static_cast<std::uint8_t>(c);
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
  });
}

/// HeaderValueOption. Whether it is to be appended is not looked at: what a client sent is never kept beside it.
bool add_header(std::string_view message, std::vector<CheckedHeader>& out) {
  CheckedHeader header;
  const bool sound = each_field(message, [&](const ProtobufField& option) {
    if (option.number != 1) return true;
    return each_field(option.bytes, [&](const ProtobufField& part) {
      if (part.number == 1) header.name = ascii_lower(part.bytes);
      if (part.number == 2 || (part.number == 3 && !part.bytes.empty())) header.value = part.bytes;
      return true;
    });
  });
  if (!sound || out.size() >= kMostHeaders) return false;
  if (is_token(header.name) && is_line(header.value)) out.push_back(std::move(header));
  return true;
}

bool read_ok(std::string_view message, CheckResult& result) {
  return each_field(message, [&](const ProtobufField& field) {
    if (field.number == 2) return add_header(field.bytes, result.headers);
    if (field.number == 5) {
      if (result.removed.size() >= kMostHeaders) return false;
      if (is_token(field.bytes)) result.removed.push_back(ascii_lower(field.bytes));
    }
    if (field.number == 6) return add_header(field.bytes, result.response_headers);
    return true;
  });
}

/// Of google.rpc.Status and envoy.type.v3.HttpStatus, whose first field it is. False: malformed, or no number.
bool read_code(std::string_view message, std::uint64_t& code) {
  return each_field(message, [&](const ProtobufField& field) {
    if (field.number != 1) return true;
    code = field.value;
    return !field.is_bytes;
  });
}

bool read_denied(std::string_view message, CheckResult& result) {
  return each_field(message, [&](const ProtobufField& field) {
    if (field.number == 1) {
      std::uint64_t code = 0;
      if (!read_code(field.bytes, code)) return false;
      // What a client would take for success, or for no answer, is none.
      if (code >= 300 && code < 600 && code != 304) result.status = static_cast<int>(code);
    }
    if (field.number == 2) return add_header(field.bytes, result.headers);
    if (field.number == 3) result.body = field.bytes;
    return true;
  });
}

}  // namespace

std::string check_request(const CheckedRequest& request) {
  ProtobufWriter writer;
  {
    const auto attributes = writer.message(1);
    {
      const auto source = writer.message(1);
      const auto address = writer.message(1);
      const auto socket = writer.message(1);
      put_text(writer, 2, request.source);
    }
    const auto of_request = writer.message(4);
    {
      const auto time = writer.message(1);
      put_number(writer, 1, static_cast<std::uint64_t>(request.unix_now));
    }
    const auto http = writer.message(2);
    put_text(writer, 1, request.id);
    put_text(writer, 2, request.method);
    for (const auto& [name, value] : request.headers) {
      const auto entry = writer.message(3);
      put_text(writer, 1, name);
      put_text(writer, 2, value);
    }
    put_text(writer, 4, request.path);
    put_text(writer, 5, request.host);
    put_text(writer, 6, request.scheme);
    put_number(writer, 9, request.body.size());
    put_text(writer, 10, request.protocol);
    if (!request.body.empty()) writer.text(is_utf8(request.body) ? 11 : 12, request.body);
  }
  const std::string message = writer.take();
  std::string out(1, '\0');
  for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(message.size() >> shift);
  return out + message;
}

std::optional<CheckResult> read_check_response(std::string_view body, std::string_view grpc_status) {
  if (grpc_status != "0") return std::nullopt;
  const auto message = message_in(body);
  if (!message) return std::nullopt;
  CheckResult result;
  bool says = false;
  std::uint64_t code = 0;
  std::string_view ok;
  std::string_view denied;
  bool denies = false;
  const bool sound = each_field(*message, [&](const ProtobufField& field) {
    if (field.number == 1) {
      says = true;
      return read_code(field.bytes, code);
    }
    if (field.number == 2) {
      denied = field.bytes;
      denies = true;
    }
    if (field.number == 3) ok = field.bytes;
    return true;
  });
  if (!sound || !says) return std::nullopt;
  result.passes = code == 0 && !denies;
  if (result.passes ? !read_ok(ok, result) : !read_denied(denied, result)) return std::nullopt;
  return result;
}

}  // namespace edge::runtime::auth
