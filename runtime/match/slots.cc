#include <algorithm>
#include <cstring>

#include "base/text/ascii.h"
#include "runtime/match/scan.h"
#include "runtime/match/scratch.h"

namespace edge::runtime {
namespace {

using program::SlotKind;
using program::SlotRecord;
using program::SlotValue;

/// The next decoded byte of a query; moves `at` past it. A `%` without two hex digits stands for itself.
char next_decoded(std::string_view text, std::size_t& at) {
  const char c = text[at++];
  if (c == '+') return ' ';
  if (c != '%' || at + 1 >= text.size()) return c;
  const int high = hex_digit(text[at]);
  const int low = hex_digit(text[at + 1]);
  if (high < 0 || low < 0) return c;
  at += 2;
  return static_cast<char>(high * 16 + low);
}

bool decodes_to(std::string_view encoded, std::string_view key) {
  if (encoded.size() < key.size()) return false;
  std::size_t at = 0;
  for (const char expected : key) {
    if (at >= encoded.size() || next_decoded(encoded, at) != expected) return false;
  }
  return at == encoded.size();
}

/// Present even when empty: an absent slot is told by a null pointer.
SlotValue present(std::string_view text) { return {text.data() == nullptr ? "" : text.data(), text.size()}; }

class SlotFiller {
 public:
  SlotFiller(const LoadedHost& host, const program::RequestView& request, MatchScratch::Impl& scratch)
      : host_(host), records_(host.view.array(host.header->slots)), request_(request), scratch_(scratch) {}

  bool run() {
    if (program::kFirstHostSlot + records_.size() > scratch_.slots.size()) return false;  // not prepared
    scratch_.storage_used = 0;
    scratch_.slots[program::kSlotMethod] = present(request_.method);
    scratch_.slots[program::kSlotPath] = present(request_.path);
    std::fill_n(scratch_.slots.begin() + program::kFirstHostSlot, records_.size(), SlotValue{nullptr, 0});
    std::fill_n(scratch_.joined.begin(), records_.size(), std::uint8_t{0});
    return fill_headers() && (!host_.has_query_slots || fill_query());
  }

 private:
  bool fill_headers() {
    if (host_.header_lengths == 0) return true;
    for (const Field& field : request_.headers) {
      if ((host_.header_lengths >> (field.name.size() % 64) & 1) == 0) continue;
      for (std::size_t i = 0; i < records_.size(); ++i) {
        if (records_[i].kind != SlotKind::kHeader || records_[i].name.size != field.name.size() ||
            !equals_ignoring_case(field.name, name_of(i))) {
          continue;
        }
        SlotValue& value = slot(i);
        if (value.data == nullptr) {
          value = present(field.value);
        } else if (scratch_.joined[i] == 0 && !join(i)) {
          return false;
        }
      }
    }
    return true;
  }

  /// All fields of the slot's name, joined with ", ", at once: in a request that repeats two names in turn, joining
  /// field by field would copy again and again.
  bool join(std::size_t i) {
    const std::string_view name = name_of(i);
    char* const begin = scratch_.storage.get() + scratch_.storage_used;
    bool first = true;
    for (const Field& field : request_.headers) {
      if (!equals_ignoring_case(field.name, name)) continue;
      if (!first && !store(", ")) return false;
      first = false;
      if (!store(field.value)) return false;
    }
    const char* const end = scratch_.storage.get() + scratch_.storage_used;
    slot(i) = {begin, static_cast<std::uint64_t>(end - begin)};
    scratch_.joined[i] = 1;
    return true;
  }

  bool fill_query() {
    std::size_t open = static_cast<std::size_t>(std::count_if(
        records_.begin(), records_.end(), [](const SlotRecord& r) { return r.kind == SlotKind::kQuery; }));
    std::string_view rest = request_.query;
    while (!rest.empty() && open > 0) {
      const std::string_view pair = rest.substr(0, rest.find('&'));
      rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
      const std::size_t equals = pair.find('=');
      const std::string_view key = pair.substr(0, equals);
      for (std::size_t i = 0; i < records_.size(); ++i) {
        if (records_[i].kind != SlotKind::kQuery || slot(i).data != nullptr || !decodes_to(key, name_of(i))) continue;
        if (!decode(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1), slot(i))) {
          return false;
        }
        --open;
      }
    }
    return true;
  }

  bool decode(std::string_view text, SlotValue& value) {
    if (text.find_first_of("%+") == std::string_view::npos) {
      value = present(text);
      return true;
    }
    if (text.size() > kSlotStorageBytes - scratch_.storage_used) return false;
    char* const begin = scratch_.storage.get() + scratch_.storage_used;
    char* out = begin;
    for (std::size_t at = 0; at < text.size();) *out++ = next_decoded(text, at);
    value = {begin, static_cast<std::uint64_t>(out - begin)};
    scratch_.storage_used += value.size;
    return true;
  }

  bool store(std::string_view text) {
    if (text.size() > kSlotStorageBytes - scratch_.storage_used) return false;
    if (!text.empty()) std::memcpy(scratch_.storage.get() + scratch_.storage_used, text.data(), text.size());
    scratch_.storage_used += text.size();
    return true;
  }

  SlotValue& slot(std::size_t i) { return scratch_.slots[program::kFirstHostSlot + i]; }
  std::string_view name_of(std::size_t i) const { return host_.view.string(records_[i].name); }

  const LoadedHost& host_;
  std::span<const SlotRecord> records_;
  const program::RequestView& request_;
  MatchScratch::Impl& scratch_;
};

}  // namespace

bool fill_slots(const LoadedHost& host, const program::RequestView& request, MatchScratch::Impl& scratch) {
  return SlotFiller(host, request, scratch).run();
}

}  // namespace edge::runtime
