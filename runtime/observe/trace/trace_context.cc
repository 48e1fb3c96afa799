#include "runtime/observe/trace/trace_context.h"

#include <algorithm>
#include <cstring>

#include "base/text/ascii.h"

namespace edge::runtime::trace {
namespace {

using net::http1::HeadFields;

enum Name : std::uint8_t { kTraceparent, kTracestate, kB3, kB3TraceId, kB3SpanId, kB3Parent, kB3Sampled, kB3Flags };
constexpr auto& kNames = kTraceFieldNames;
constexpr std::size_t kNameCount = kNames.size();

/// W3C Trace Context §3.3.1.5: so much has to be handed on, more need not be.
constexpr std::size_t kMaxState = 512;
constexpr int kMaxMembers = 32;
constexpr std::size_t kMaxKey = 256;
constexpr std::size_t kMaxValue = 256;

bool same_name(std::string_view name, std::string_view known) {
  return std::ranges::equal(name, known, {}, [](char c) { return c == '_' ? '-' : ascii_lower(c); });
}

/// Asked about every field of a head: most are passed over by their size.
std::optional<Name> name_of(std::string_view name) {
  const auto either = [name](Name one, Name other) -> std::optional<Name> {
    if (same_name(name, kNames[one])) return one;
    if (same_name(name, kNames[other])) return other;
    return std::nullopt;
  };
  switch (name.size()) {
    case 2:
      return either(kB3, kB3);
    case 10:
      return either(kTracestate, kB3Flags);
    case 11:
      return either(kTraceparent, kB3SpanId);
    case 12:
      return either(kB3TraceId, kB3Sampled);
    case 17:
      return either(kB3Parent, kB3Parent);
    default:
      return std::nullopt;
  }
}

/// The header fields of trace propagation, by name.
class Fields {
 public:
  explicit Fields(const HeadFields& fields) : fields_(fields) {
    for (const Field& field : fields.all()) {
      const std::optional<Name> name = name_of(field.name);
      if (!name || field.name.find('_') != std::string_view::npos) continue;
      ++counts_[*name];
      values_[*name] = field.value;
    }
  }
  /// Its value, where it stands once: of two nobody knows which is meant.
  std::optional<std::string_view> only(Name name) const {
    return counts_[name] == 1 ? std::optional(values_[name]) : std::nullopt;
  }
  bool none() const { return counts_ == decltype(counts_){}; }
  /// A list may be spread over several fields (W3C Trace Context §3.3.1).
  template <typename Visit>
  void each_state(Visit visit) const {
    if (counts_[kTracestate] == 0) return;
    for (const Field& field : fields_.all()) {
      if (equals_ignoring_case(field.name, kNames[kTracestate])) visit(field.value);
    }
  }

 private:
  const HeadFields& fields_;
  std::array<std::uint16_t, kNameCount> counts_{};
  std::array<std::string_view, kNameCount> values_{};
};

enum class Case : std::uint8_t { kLower, kAny };

std::optional<std::uint64_t> number_of(std::string_view digits, Case allowed) {
  std::uint64_t value = 0;
  for (const char c : digits) {
    const char lower = allowed == Case::kLower ? c : ascii_lower(c);
    const bool decimal = lower >= '0' && lower <= '9';
    if (!decimal && (lower < 'a' || lower > 'f')) return std::nullopt;
    value = value << 4 | static_cast<std::uint64_t>(decimal ? lower - '0' : lower - 'a' + 10);
  }
  return value;
}

std::optional<TraceId> trace_of(std::string_view digits, Case allowed) {
  if (digits.size() != 32) return std::nullopt;
  const auto high = number_of(digits.substr(0, 16), allowed);
  const auto low = number_of(digits.substr(16), allowed);
  if (!high || !low || (*high == 0 && *low == 0)) return std::nullopt;
  return TraceId{*high, *low};
}

std::optional<SpanId> span_of(std::string_view digits, Case allowed) {
  const auto span = digits.size() == 16 ? number_of(digits, allowed) : std::nullopt;
  return span && *span != 0 ? span : std::nullopt;
}

// W3C Trace Context §3.2.2: `version-trace-parent-flags`. Of a later version what stands behind them is passed over.
bool read_parent(const Fields& fields, TraceContext& context) {
  constexpr std::size_t kSize = 55;
  const auto text = fields.only(kTraceparent);
  if (!text || text->size() < kSize || (*text)[2] != '-' || (*text)[35] != '-' || (*text)[52] != '-') return false;
  const auto version = number_of(text->substr(0, 2), Case::kLower);
  const auto trace = trace_of(text->substr(3, 32), Case::kLower);
  const auto parent = span_of(text->substr(36, 16), Case::kLower);
  const auto flags = number_of(text->substr(53, 2), Case::kLower);
  if (!version || *version == 0xff || !trace || !parent || !flags) return false;
  if (text->size() > kSize && (*version == 0 || (*text)[kSize] != '-')) return false;
  context.trace = *trace;
  context.parent = *parent;
  context.sampled = (*flags & 1) != 0;
  return true;
}

bool is_state_key(std::string_view key) {
  const auto small = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (key.empty() || key.size() > kMaxKey || !small(key.front())) return false;
  return std::ranges::all_of(
      key, [&](char c) { return small(c) || c == '_' || c == '-' || c == '*' || c == '/' || c == '@'; });
}

bool is_state_value(std::string_view value) {
  return !value.empty() && value.size() <= kMaxValue &&
         std::ranges::all_of(value, [](char c) { return c >= 0x20 && c < 0x7f && c != ',' && c != '='; });
}

/// Takes a member into `state`. \returns false when the list is none: all of it is dropped then (§3.3.1).
bool add_member(std::string_view member, int& members, std::string& state) {
  const std::size_t equals = member.find('=');
  if (equals == std::string_view::npos || !is_state_key(member.substr(0, equals)) ||
      !is_state_value(member.substr(equals + 1)) || ++members > kMaxMembers) {
    return false;
  }
  // The last ones are the oldest: they go where there is no room (§3.3.1.5).
  const std::size_t comma = state.empty() ? 0 : 1;
  if (state.size() + comma + member.size() > kMaxState) return true;
  if (comma != 0) state += ',';
  state += member;
  return true;
}

std::string state_of(const Fields& fields) {
  std::string state;
  int members = 0;
  bool sound = true;
  fields.each_state([&](std::string_view rest) {
    while (sound && !rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view member = trim_blanks(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      // Empty ones may be there (§3.3.1.1).
      if (!member.empty()) sound = add_member(member, members, state);
    }
  });
  return sound ? state : std::string();
}

/// The contents of one B3 field or of several.
struct B3 {
  std::optional<TraceId> trace{};
  SpanId span = 0;
  bool short_id = false;
  bool debug = false;
  std::optional<bool> sampled{};
};

bool read_b3_ids(std::string_view trace, std::string_view span, B3& b3) {
  b3.short_id = trace.size() == 16;
  if (b3.short_id) {
    const auto low = span_of(trace, Case::kAny);
    if (low) b3.trace = TraceId{0, *low};
  } else {
    b3.trace = trace_of(trace, Case::kAny);
  }
  b3.span = span_of(span, Case::kAny).value_or(0);
  return b3.trace && b3.span != 0;
}

std::optional<bool> sampled_of(std::string_view text) {
  // The words are those of old senders.
  if (text == "1" || text == "d" || equals_ignoring_case(text, "true")) return true;
  if (text == "0" || equals_ignoring_case(text, "false")) return false;
  return std::nullopt;
}

/// `trace-span`, `trace-span-decision`, `trace-span-decision-parent`, or a decision alone.
std::optional<B3> read_b3_single(const Fields& fields) {
  const auto text = fields.only(kB3);
  if (!text) return std::nullopt;
  std::array<std::string_view, 4> parts{};
  std::size_t count = 0;
  for (std::string_view rest = *text;; ++count) {
    if (count == parts.size()) return std::nullopt;
    const std::size_t dash = rest.find('-');
    parts[count] = rest.substr(0, dash);
    if (dash == std::string_view::npos) break;
    rest.remove_prefix(dash + 1);
  }
  ++count;
  B3 b3;
  const std::string_view decision = count == 1 ? parts[0] : parts[2];
  if (count != 2) {
    b3.sampled = sampled_of(decision);
    if (!b3.sampled || decision.size() != 1) return std::nullopt;
    b3.debug = decision == "d";
  }
  if (count == 4 && !span_of(parts[3], Case::kAny)) return std::nullopt;
  if (count > 1 && !read_b3_ids(parts[0], parts[1], b3)) return std::nullopt;
  return b3;
}

std::optional<B3> read_b3_multi(const Fields& fields) {
  B3 b3;
  if (const auto text = fields.only(kB3Sampled)) b3.sampled = sampled_of(*text);
  b3.debug = fields.only(kB3Flags) == "1";
  if (b3.debug) b3.sampled = true;
  const auto trace = fields.only(kB3TraceId);
  const auto span = fields.only(kB3SpanId);
  if (!trace || !span || !read_b3_ids(*trace, *span, b3)) {
    b3.trace.reset();
    if (!b3.sampled) return std::nullopt;
  }
  return b3;
}

void take(const B3& b3, TraceContext& context) {
  if (b3.trace) {
    context.trace = *b3.trace;
    context.parent = b3.span;
    context.short_id = b3.short_id;
  }
  context.sampled = b3.sampled;
  context.debug = b3.debug;
}

std::string_view view(const TraceText& text) { return {text.data(), text.size()}; }
std::string_view view(const SpanText& text) { return {text.data(), text.size()}; }

/// Both digits of each byte.
constexpr auto kHex = [] {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<std::array<char, 2>, 256> pairs{};
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {kDigits[i >> 4], kDigits[i & 15]};
  return pairs;
}();

void put_hex(std::uint64_t value, char* out) {
  for (int i = 14; i >= 0; i -= 2, value >>= 8) std::memcpy(out + i, kHex[value & 255].data(), 2);
}

/// Appends to a buffer that has room.
template <typename... Parts>
std::string_view join(std::array<char, 96>& room, Parts... parts) {
  char* at = room.data();
  ((at = std::copy(parts.begin(), parts.end(), at)), ...);
  return {room.data(), static_cast<std::size_t>(at - room.data())};
}

}  // namespace

TraceText text_of(const TraceId& id) {
  TraceText text;
  put_hex(id.high, text.data());
  put_hex(id.low, text.data() + 16);
  return text;
}

SpanText text_of(SpanId id) {
  SpanText text;
  put_hex(id, text.data());
  return text;
}

TraceContext read_trace_context(const HeadFields& from) {
  TraceContext context;
  const Fields fields(from);
  if (fields.none()) return context;
  const bool w3c = read_parent(fields, context);
  if (w3c) context.state = state_of(fields);
  const auto single = read_b3_single(fields);
  const auto multi = read_b3_multi(fields);
  context.b3_single = single.has_value();
  context.b3_multi = multi.has_value();
  if (!w3c && single) {
    take(*single, context);
  } else if (!w3c && multi) {
    take(*multi, context);
  }
  return context;
}

bool tells_of_trace(std::string_view name) { return name_of(name).has_value(); }

void write_trace_context(const PropagatedContext& propagated, net::http1::HeadWriter& out) {
  using namespace std::string_view_literals;
  const TraceContext& context = propagated.context;
  const auto tell = [&](Name name, std::string_view written, std::string_view value) {
    if ((propagated.others >> name & 1) == 0) out.field(written, value);
  };
  const TraceText digits = text_of(context.trace);
  const SpanText span_digits = text_of(propagated.span);
  const std::string_view trace = view(digits);
  const std::string_view span = view(span_digits);
  std::array<char, 96> room;
  tell(kTraceparent, "traceparent", join(room, "00-"sv, trace, "-"sv, span, propagated.sampled ? "-01"sv : "-00"sv));
  if (!context.state.empty()) tell(kTracestate, "tracestate", context.state);
  if (!context.b3_single && !context.b3_multi) return;

  // Handed on as it came, a span's own parent is not known.
  const bool ours = propagated.parent != propagated.span;
  const SpanText parent_digits = text_of(propagated.parent);
  const std::string_view parent = view(parent_digits);
  const std::string_view b3_trace = context.short_id ? trace.substr(16) : trace;
  const bool debug = context.debug && propagated.sampled;
  if (context.b3_single) {
    const std::string_view decision = debug ? "-d"sv : propagated.sampled ? "-1"sv : "-0"sv;
    tell(kB3, "b3", join(room, b3_trace, "-"sv, span, decision, ours ? "-"sv : ""sv, ours ? parent : ""sv));
  }
  if (!context.b3_multi) return;
  tell(kB3TraceId, "X-B3-TraceId", b3_trace);
  tell(kB3SpanId, "X-B3-SpanId", span);
  if (ours) tell(kB3Parent, "X-B3-ParentSpanId", parent);
  if (debug) {
    tell(kB3Flags, "X-B3-Flags", "1"sv);
  } else {
    tell(kB3Sampled, "X-B3-Sampled", propagated.sampled ? "1"sv : "0"sv);
  }
}

}  // namespace edge::runtime::trace
