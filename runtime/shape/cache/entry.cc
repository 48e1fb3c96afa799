#include "runtime/shape/cache/entry.h"

#include "base/text/ascii.h"
#include "net/http1/parse.h"
#include "net/http1/write.h"

namespace edge::runtime::cache {
namespace {

using net::http1::HeadFields;
using net::http1::HeadWriter;
using net::http1::KnownField;
using net::http1::ResponseHead;

/// What the store spends on an entry beside its texts, rounded up.
constexpr std::size_t kOverhead = 512;

bool listed(const ResponseDirectives& directives, std::string_view name) {
  for (std::string_view list : directives.lists()) {
    while (!list.empty()) {
      if (equals_ignoring_case(next_part(list, ','), name)) return true;
    }
  }
  return false;
}

// §3.1: not what belongs to one connection, nor to a proxy, nor what `no-cache` and `private` name; Age and length are
// written anew, and trailers are not kept.
bool kept(const HeadFields& fields, std::size_t i, const ResponseDirectives& directives) {
  if (fields.hop_by_hop(i)) return false;
  const KnownField known = fields.known(i);
  if (known == KnownField::kContentLength || known == KnownField::kTrailer) return false;
  const std::string_view name = fields[i].name;
  if (known == KnownField::kOther &&
      (equals_ignoring_case(name, "age") || equals_ignoring_case(name, "proxy-authentication-info"))) {
    return false;
  }
  return directives.field_list_count == 0 || !listed(directives, name);
}

void append_line(std::string& to, std::string_view name, std::string_view value) {
  to.append(name).append(": ").append(value).append(kLineEnd);
}

std::string status_line(const ResponseHead& head) {
  char buffer[1024];
  HeadWriter out(buffer, sizeof buffer);
  out.status_line(head.status, head.reason.substr(0, 512));
  return std::string(out.text());
}

void fill_in(Entry& entry, const Response& facts, const CacheRequest& cache_request) {
  entry.etag = facts.validators.etag;
  entry.last_modified = facts.validators.last_modified;
  entry.date = facts.date.value_or(cache_request.times.response);
  entry.freshness = freshness_of(facts, cache_request.limits, cache_request.times);
}

// What a 304 replaces in the stored head, and what not: the bytes that are stored keep their coding.
bool replaces(const HeadFields& fields, std::size_t i, const ResponseDirectives& directives) {
  const KnownField known = fields.known(i);
  return kept(fields, i, directives) && known != KnownField::kContentEncoding && known != KnownField::kContentRange;
}

}  // namespace

std::string_view next_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find(kLineEnd) + kLineEnd.size());
  rest.remove_prefix(line.size());
  return line;
}

std::size_t Entry::bytes() const {
  return kOverhead + key.bytes() + selection.size() + head.size() + etag.size() + last_modified.size() +
         body->capacity();
}

std::shared_ptr<Entry> make_entry(const CacheRequest& cache_request, const ResponseHead& head, std::string_view date) {
  const Response facts = read_response(head.status, head.fields, cache_request.times.response);
  if (!storable(cache_request.request, facts, cache_request.limits, cache_request.times)) return nullptr;
  auto selection = selection_of(head.fields, *cache_request.request.fields);
  if (!selection) return nullptr;
  auto entry = std::make_shared<Entry>();
  entry->key = cache_request.key;
  entry->selection = std::move(*selection);
  entry->status = head.status;
  entry->head = status_line(head);
  for (std::size_t i = 0; i < head.fields.size(); ++i) {
    if (kept(head.fields, i, facts.directives)) entry->head += head.fields.lines(i, i + 1);
  }
  if (!head.fields.has(KnownField::kDate)) append_line(entry->head, "Date", date);
  fill_in(*entry, facts, cache_request);
  return entry;
}

bool speaks_of(const Response& update, const ResponseHead& head, const Entry& entry) {
  if (head.status != 304 && head.status != entry.status) return false;
  const Validators& validators = update.validators;
  if (!validators.etag.empty() && !same_etag(validators.etag, entry.etag)) return false;
  if (head.status == 304 && !validators.etag.empty()) return true;
  if (!validators.last_modified.empty() && validators.last_modified != entry.last_modified) return false;
  // Without a body to look at, its size must fit as well (§4.3.5).
  if (head.status == 304 || !head.fields.has(KnownField::kContentLength)) return true;
  return head.fields.value(KnownField::kContentLength) == std::to_string(entry.body->size());
}

Renewal renew_entry(const Entry& entry, const CacheRequest& cache_request, const ResponseHead& head,
                    std::string_view date) {
  // The fields of both as one head, which is then judged as if it had come so.
  const ResponseDirectives directives = read_response_directives(head.fields);
  std::string text;
  std::string_view rest = entry.head;
  text += next_line(rest);
  while (!rest.empty()) {
    const std::string_view line = next_line(rest);
    const std::string_view name = line.substr(0, line.find(':'));
    bool replaced = equals_ignoring_case(name, "date");
    for (std::size_t i = 0; i < head.fields.size() && !replaced; ++i) {
      replaced = equals_ignoring_case(head.fields[i].name, name) && replaces(head.fields, i, directives);
    }
    if (!replaced) text += line;
  }
  for (std::size_t i = 0; i < head.fields.size(); ++i) {
    if (replaces(head.fields, i, directives)) text += head.fields.lines(i, i + 1);
  }
  if (!head.fields.has(KnownField::kDate)) append_line(text, "Date", date);
  // How old the update itself is counts, too; it is no part of what is stored.
  const Seconds update_age = read_response(head.status, head.fields, cache_request.times.response).age;
  const std::size_t stored_size = text.size();
  append_line(text, "Age", std::to_string(update_age));
  text += kLineEnd;

  net::http1::ParseHint hint;
  const auto merged = std::make_unique<ResponseHead>();
  net::http1::HeadLimits limits;
  limits.max_fields = HeadFields::kMax;
  limits.max_bytes = text.size();
  const auto parsed = net::http1::parse_response(text, net::http1::Method::kHead, limits, hint, *merged);
  if (parsed.state != net::http1::ParseState::kComplete) return {};
  const Response facts = read_response(merged->status, merged->fields, cache_request.times.response);
  Request own = cache_request.request;
  own.method = net::http1::Method::kGet;
  Request anybody = own;
  anybody.authorized = anybody.has_cookie = anybody.directives.no_store = false;
  auto selection = selection_of(merged->fields, *cache_request.request.fields);
  Renewal::Fate fate = Renewal::Fate::kReplaced;
  if (!selection || !storable(anybody, facts, cache_request.limits, cache_request.times)) {
    fate = Renewal::Fate::kEnds;
  } else if (!storable(own, facts, cache_request.limits, cache_request.times)) {
    fate = Renewal::Fate::kStays;
  }
  auto renewed = std::make_shared<Entry>();
  renewed->key = entry.key;
  if (selection) renewed->selection = std::move(*selection);
  renewed->status = entry.status;
  fill_in(*renewed, facts, cache_request);
  renewed->body = entry.body;
  text.resize(stored_size);
  renewed->head = std::move(text);
  return {std::move(renewed), fate};
}

}  // namespace edge::runtime::cache
