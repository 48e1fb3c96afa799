// Interprets the lines of a head together: the form of the target, the host, persistence of the connection, the body.
#include "base/field_name.h"
#include "base/text/ascii.h"
#include "net/http1/char_tables.h"
#include "net/http1/field_sink.h"
#include "net/http1/parsers.h"

namespace edge::net::http1 {

namespace {

/// More options than this are no honest message; each costs a pass over the fields.
constexpr std::size_t kMaxConnectionOptions = 64;

struct ConnectionOptions {
  bool close = false;
  bool keep_alive = false;
  bool upgrade = false;
};

/// Marks the fields called `option` as hop-by-hop (RFC 9110 §7.6.1).
void nominate(HeadFields& fields, std::string_view option) {
  FieldSink sink{fields};
  const KnownField known = recognise_token(option.data(), option.size());
  if (known != KnownField::kOther) {
    const field_detail::KnownName& name = field_detail::kKnownNames[static_cast<std::size_t>(known)];
    if (name.kept || name.hop_by_hop || !fields.has(known)) return;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (fields.known(i) == known) sink.mark_hop_by_hop(i);
    }
    return;
  }
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.known(i) != KnownField::kOther) continue;
    if (equals_ignoring_case(fields[i].name, option)) sink.mark_hop_by_hop(i);
  }
}

/// By words. A value holds no controls, so folding bit 5 makes no other bytes equal to letters and `-`.
bool is(std::string_view value, std::string_view name) {
  return value.size() == name.size() && field_detail::same_name(value.data(), name.data(), name.size());
}

/// A list of tokens; empty elements are skipped (RFC 9110 §5.6.1.2).
bool read_options(HeadFields& fields, std::string_view list, std::size_t& count, ConnectionOptions& out) {
  while (!list.empty()) {
    // The two lists that nearly all messages have.
    if (is(list, "close")) return out.close = true;
    if (is(list, "keep-alive")) return out.keep_alive = true;
    const std::size_t comma = list.find(',');
    const std::string_view option = trim_blanks(list.substr(0, comma));
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    if (option.empty()) continue;
    if (++count > kMaxConnectionOptions || !all_of_class(option, kTokenChar)) return false;
    if (equals_ignoring_case(option, "close")) {
      out.close = true;
    } else if (equals_ignoring_case(option, "keep-alive")) {
      out.keep_alive = true;
    } else if (equals_ignoring_case(option, "upgrade")) {
      out.upgrade = true;
    } else {
      nominate(fields, option);
    }
  }
  return true;
}

/// RFC 9112 §9.3. False when a Connection field is malformed.
bool read_connection(HeadFields& fields, std::uint8_t minor, ConnectionOptions& options, bool& keep_alive) {
  if (fields.has(KnownField::kConnection)) {
    std::size_t count = 0;
    for (std::size_t i = static_cast<std::size_t>(fields.index(KnownField::kConnection)); i < fields.size(); ++i) {
      if (fields.known(i) != KnownField::kConnection) continue;
      if (!read_options(fields, fields[i].value, count, options)) return false;
    }
  }
  keep_alive = !options.close && (minor > 0 || options.keep_alive);
  return true;
}

Method method_of(std::string_view text) {
  switch (text.size()) {
    case 3:
      return text == "GET" ? Method::kGet : text == "PUT" ? Method::kPut : Method::kOther;
    case 4:
      return text == "POST" ? Method::kPost : text == "HEAD" ? Method::kHead : Method::kOther;
    case 5:
      return text == "PATCH" ? Method::kPatch : text == "TRACE" ? Method::kTrace : Method::kOther;
    case 6:
      return text == "DELETE" ? Method::kDelete : Method::kOther;
    case 7:
      return text == "OPTIONS" ? Method::kOptions : Method::kOther;
    default:
      return Method::kOther;
  }
}

/// RFC 9112 §3.2.2. `target` is the part before the query.
HeadFault absolute_form(RequestHead& head, std::string_view target) {
  const std::size_t colon = target.find(':');
  if (colon == std::string_view::npos || target.substr(colon + 1, 2) != "//") return HeadFault::kBadTarget;
  const std::string_view scheme = target.substr(0, colon);
  if (!equals_ignoring_case(scheme, "http") && !equals_ignoring_case(scheme, "https")) return HeadFault::kBadTarget;
  const std::string_view rest = target.substr(colon + 3);
  const std::size_t slash = rest.find('/');
  head.host = rest.substr(0, slash);
  if (head.host.empty()) return HeadFault::kBadTarget;
  head.form = TargetForm::kAbsolute;
  if (slash != std::string_view::npos) {
    head.path = rest.substr(slash);
  } else if (head.method == Method::kOptions && !head.has_query) {
    head.form = TargetForm::kAsterisk;  // §3.2.4: the last proxy sends `*`
    head.path = "*";
  } else {
    head.path = "/";
  }
  return HeadFault::kNone;
}

HeadFault read_target(RequestHead& head, std::size_t path_size) {
  const std::string_view target = head.target.substr(0, path_size);
  if (target.starts_with('/')) {
    head.form = TargetForm::kOrigin;
    head.path = target;
    return HeadFault::kNone;
  }
  if (target == "*") {
    if (head.method != Method::kOptions || head.has_query) return HeadFault::kBadTarget;
    head.form = TargetForm::kAsterisk;
    head.path = target;
    return HeadFault::kNone;
  }
  return absolute_form(head, target);
}

/// RFC 9112 §3.2: one Host field in HTTP/1.1, at most one in HTTP/1.0. The absolute form overrides its value.
HeadFault read_host(RequestHead& head) {
  const HeadFields& fields = head.fields;
  if (!fields.has(KnownField::kHost)) {
    if (head.minor > 0) return HeadFault::kMissingHost;
  } else if (fields.repeated(KnownField::kHost)) {
    return HeadFault::kRepeatedHost;
  }
  const std::string_view field = fields.value(KnownField::kHost);
  if (!all_of_class(field, kHostChar)) return HeadFault::kBadHost;
  if (head.host.empty()) {
    head.host = field;
  } else if (!all_of_class(head.host, kHostChar)) {
    return HeadFault::kBadHost;
  }
  return HeadFault::kNone;
}

/// RFC 9110 §10.1.1. HTTP/1.0 clients' expectations are ignored; without a body there is nothing to wait for.
HeadFault read_expectation(RequestHead& head) {
  head.expect_continue = false;
  if (!head.fields.has(KnownField::kExpect)) return HeadFault::kNone;
  if (head.fields.repeated(KnownField::kExpect) ||
      !equals_ignoring_case(head.fields.value(KnownField::kExpect), "100-continue")) {
    return HeadFault::kBadExpectation;
  }
  const bool body = head.body.kind == BodyKind::kChunked || head.body.length > 0;
  head.expect_continue = head.minor > 0 && body;
  return HeadFault::kNone;
}

}  // namespace

void FieldSink::mark_extension(std::size_t i) {
  const std::string_view name = fields.fields_[i].name;
  if (is_forwarded_field(name)) {
    fields.other_forwarded_ = true;
    if (name[1] == '_' || name[11] == '_') mark_hop_by_hop(i);
  }
  char dashed[sizeof(field_detail::KnownName::name)];
  if (name.size() > sizeof(dashed) || name.find('_') == std::string_view::npos) return;
  for (std::size_t k = 0; k < name.size(); ++k) dashed[k] = name[k] == '_' ? '-' : name[k];
  if (recognise_token(dashed, name.size()) != KnownField::kOther) mark_hop_by_hop(i);
}

HeadFault interpret_request(RequestHead& head, std::size_t path_size) {
  if (head.method_text == "CONNECT") return HeadFault::kMethodNotImplemented;
  head.method = method_of(head.method_text);
  head.host = {};
  if (const HeadFault fault = read_target(head, path_size); fault != HeadFault::kNone) return fault;
  if (const HeadFault fault = read_host(head); fault != HeadFault::kNone) return fault;
  if (const HeadFault fault = frame_request(head.fields, head.minor, head.body); fault != HeadFault::kNone) {
    return fault;
  }
  ConnectionOptions options;
  if (!read_connection(head.fields, head.minor, options, head.keep_alive)) return HeadFault::kBadFieldValue;
  head.upgrade = options.upgrade && head.fields.has(KnownField::kUpgrade);
  return read_expectation(head);
}

HeadFault interpret_response(ResponseHead& head, Method method) {
  const HeadFault fault = frame_response(head.fields, head.minor, head.status, method, head.body);
  if (fault != HeadFault::kNone) return fault;
  ConnectionOptions options;
  if (!read_connection(head.fields, head.minor, options, head.keep_alive)) return HeadFault::kBadFieldValue;
  if (head.body.kind == BodyKind::kUntilClose) head.keep_alive = false;
  return HeadFault::kNone;
}

std::string_view known_field_name(KnownField field) {
  const field_detail::KnownName& known = field_detail::kKnownNames[static_cast<std::size_t>(field)];
  return {known.name, known.size};
}

KnownField recognise_field(std::string_view name) {
  return all_of_class(name, kTokenChar) ? recognise_token(name.data(), name.size()) : KnownField::kOther;
}

bool always_hop_by_hop(KnownField field) {
  return field_detail::kKnownNames[static_cast<std::size_t>(field)].hop_by_hop;
}

}  // namespace edge::net::http1
