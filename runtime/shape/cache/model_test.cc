// Random exchanges against a slow model that keeps every answer as it was given and reads RFC 9111 literally each time
// it is asked. What the cache reuses, validates, refuses and forwards must be what the model says, to the byte.
#include <algorithm>
#include <list>
#include <optional>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "runtime/shape/cache/test_origin.h"

namespace edge::runtime::cache {
namespace {

using testing::Got;
using testing::Said;
using testing::TestCache;

/// An answer of the origin, as numbers.
struct Sent {
  int status = 200;
  bool no_store = false;
  bool no_cache = false;
  bool is_private = false;
  bool is_public = false;
  bool must_revalidate = false;
  bool must_understand = false;
  bool cookie = false;
  bool varies = false;  ///< by X-A
  std::optional<Seconds> max_age;
  std::optional<Seconds> s_maxage;
  std::optional<Seconds> while_revalidate;
  std::optional<Seconds> if_error;
  std::optional<Seconds> expires_in;
  Seconds age = 0;
  int etag = 0;  ///< 0: none
  std::string text;
};

struct Wanted {
  std::string method = "GET";
  int path = 0;
  int a = 0;  ///< X-A, 0: absent
  bool authorized = false;
  bool no_cache = false;
  bool no_store = false;
  bool only_if_cached = false;
  std::optional<Seconds> max_age;
  std::optional<Seconds> min_fresh;
  std::optional<Seconds> max_stale;
};

/// §3, §4.2: one stored answer, with when it was asked for and came (the same second here).
struct Kept {
  Sent sent;
  int path;
  int a;
  Seconds came;

  Seconds lifetime() const {
    Seconds stated = 0;
    if (sent.s_maxage) {
      stated = *sent.s_maxage;
    } else if (sent.max_age) {
      stated = *sent.max_age;
    } else if (sent.expires_in) {
      stated = *sent.expires_in;
    }
    return std::clamp<Seconds>(stated, 0, 24 * 3600);
  }
  Seconds age(Seconds now) const { return sent.age + (now - came); }
  Seconds stale_for(Seconds now) const { return age(now) - lifetime(); }
  /// §4.2.4.
  bool never_stale() const { return sent.must_revalidate || sent.s_maxage; }
  bool matches(const Wanted& wanted) const { return path == wanted.path && (!sent.varies || a == wanted.a); }
};

enum class Says { kReuse, kRefuse, kForward, kValidate };

class Model {
 public:
  /// §4. `found` is what the answer is, or what is validated.
  Says ask(const Wanted& wanted, Seconds now) {
    found_ = kept_.end();
    if (wanted.method != "GET" && wanted.method != "HEAD") return Says::kForward;
    for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
      if (kept->matches(wanted) && (found_ == kept_.end() || kept->came > found_->came)) found_ = kept;
    }
    if (found_ != kept_.end() && reusable(*found_, wanted, now)) return Says::kReuse;
    if (wanted.only_if_cached) return Says::kRefuse;
    if (wanted.no_store) found_ = kept_.end();  // and nothing that comes is kept, or ends what is
    const bool validates = wanted.method == "GET" && found_ != kept_.end() && found_->sent.etag != 0;
    return validates ? Says::kValidate : Says::kForward;
  }
  const Kept& found() const { return *found_; }
  bool has_found() const { return found_ != kept_.end(); }

  /// §4.3.3 and RFC 5861 §4: whether what was found answers after all, now that the origin said this.
  bool answers(const Wanted& wanted, const Sent& sent, Seconds now) {
    if (sent.status == 304) return true;
    const bool error = sent.status == 503;
    if (!error || wanted.method != "GET" || !has_found()) return false;
    if (found_->sent.no_cache || found_->never_stale() || wanted.no_cache) return false;
    return found_->sent.if_error.value_or(0) > 0 && found_->stale_for(now) <= *found_->sent.if_error;
  }
  /// What becomes of the store by this answer.
  void learn(const Wanted& wanted, const Sent& sent, Seconds now) {
    if (wanted.method == "POST") {  // §4.4
      if (sent.status < 400) kept_.remove_if([&](const Kept& kept) { return kept.path == wanted.path; });
      return;
    }
    if (wanted.method == "HEAD") return learn_head(wanted, sent, now);
    if (sent.status == 304) return renew(wanted, sent, now);
    if (has_found() && sent.status < 500 && !wanted.authorized) kept_.erase(found_);
    if (!storable(wanted, sent)) return;
    const Kept fresh{sent, wanted.path, wanted.a, now};
    kept_.remove_if([&](const Kept& kept) {
      return kept.path == wanted.path && kept.sent.varies == sent.varies && (!sent.varies || kept.a == wanted.a);
    });
    kept_.push_back(fresh);
  }

 private:
  static bool reusable(const Kept& kept, const Wanted& wanted, Seconds now) {
    if (kept.sent.no_cache || wanted.no_cache) return false;
    const Seconds age = kept.age(now);
    if (wanted.max_age && age > *wanted.max_age) return false;
    if (wanted.min_fresh && kept.lifetime() - age < *wanted.min_fresh) return false;
    if (kept.lifetime() > age) return true;
    if (kept.never_stale()) return false;
    if (wanted.max_stale && kept.stale_for(now) <= *wanted.max_stale) return true;
    return !wanted.max_age && !wanted.min_fresh && kept.sent.while_revalidate.value_or(0) > 0 &&
           kept.stale_for(now) <= *kept.sent.while_revalidate;
  }
  static bool storable(const Wanted& wanted, const Sent& sent) {
    if (wanted.no_store || sent.is_private) return false;
    if (sent.must_understand ? sent.status == 503 : sent.no_store) return false;
    const bool shared = sent.is_public || sent.s_maxage;
    if (wanted.authorized && !shared && !sent.must_revalidate) return false;
    if (sent.cookie && !shared) return false;
    if (!sent.max_age && !sent.s_maxage && !sent.expires_in && !sent.is_public && !sent.no_cache) return false;
    if (sent.etag != 0) return true;
    const Kept kept{sent, 0, 0, 0};
    if (sent.no_cache) return false;
    const bool stands_in = sent.while_revalidate.value_or(0) > 0 || sent.if_error.value_or(0) > 0;
    return kept.lifetime() > kept.age(0) || (stands_in && !kept.never_stale());
  }
  // §3.2: fields that the 304 has replace those stored, the others stay. Here it has all but the text.
  void renew(const Wanted& wanted, const Sent& sent, Seconds now) {
    Sent merged = sent;
    merged.status = found_->sent.status;
    merged.text = found_->sent.text;
    merged.etag = found_->sent.etag;
    // Expires is a date: what is left of it counts from the new Date.
    if (!sent.expires_in && found_->sent.expires_in) {
      merged.expires_in = *found_->sent.expires_in - (now - found_->came);
    }
    merged.cookie = sent.cookie || found_->sent.cookie;
    merged.varies = sent.varies || found_->sent.varies;
    Wanted anybody = wanted;
    anybody.authorized = anybody.no_store = false;
    if (!storable(anybody, merged)) {
      kept_.erase(found_);
      return;
    }
    if (storable(wanted, merged)) *found_ = Kept{merged, wanted.path, wanted.a, now};
  }
  // §4.3.5, only where something is stored and was not used.
  void learn_head(const Wanted& wanted, const Sent& sent, Seconds now) {
    if (!has_found() || sent.status >= 500) return;
    const bool fits = sent.status == found_->sent.status && sent.text.size() == found_->sent.text.size() &&
                      (sent.etag == 0 || sent.etag == found_->sent.etag);
    if (!fits) {
      if (!wanted.authorized) kept_.erase(found_);
      return;
    }
    renew(wanted, sent, now);
  }

  std::list<Kept> kept_;
  std::list<Kept>::iterator found_ = kept_.end();
};

class Exchanges {
 public:
  explicit Exchanges(std::uint64_t seed) : random_(seed) {}

  bool chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  Seconds some(Seconds most) { return static_cast<Seconds>(random_() % static_cast<std::uint64_t>(most + 1)); }
  std::optional<Seconds> maybe(int percent, Seconds most) {
    return chance(percent) ? std::optional(some(most)) : std::nullopt;
  }

  Wanted wanted() {
    Wanted wanted;
    const Seconds method = some(99);
    wanted.method = method < 80 ? "GET" : method < 92 ? "HEAD" : "POST";
    wanted.path = static_cast<int>(some(2));
    wanted.a = static_cast<int>(some(2));
    wanted.authorized = chance(10);
    wanted.no_cache = chance(5);
    wanted.no_store = chance(5);
    wanted.only_if_cached = chance(5);
    wanted.max_age = maybe(10, 20);
    wanted.min_fresh = maybe(10, 20);
    wanted.max_stale = maybe(10, 20);
    return wanted;
  }
  Sent sent(int version) {
    Sent sent;
    const Seconds status = some(99);
    sent.status = status < 80 ? 200 : status < 88 ? 404 : status < 93 ? 302 : 503;
    sent.no_store = chance(8);
    sent.no_cache = chance(10);
    sent.is_private = chance(5);
    sent.is_public = chance(20);
    sent.must_revalidate = chance(10);
    sent.must_understand = chance(8);
    sent.cookie = chance(10);
    sent.varies = chance(30);
    sent.max_age = maybe(70, 30);
    sent.s_maxage = maybe(15, 30);
    sent.while_revalidate = maybe(20, 20);
    sent.if_error = maybe(20, 20);
    sent.expires_in = maybe(15, 30);
    sent.age = chance(20) ? some(10) : 0;
    sent.etag = chance(60) ? version : 0;
    return sent;
  }

 private:
  std::mt19937_64 random_;
};

std::string lines_of(const Wanted& wanted) {
  std::string lines;
  const auto directive = [&](const std::string& text) { lines += "Cache-Control: " + text + "\n"; };
  if (wanted.a != 0) lines += "X-A: " + std::to_string(wanted.a) + "\n";
  if (wanted.authorized) lines += "Authorization: Basic QTpC\n";
  if (wanted.no_cache) directive("no-cache");
  if (wanted.no_store) directive("no-store");
  if (wanted.only_if_cached) directive("only-if-cached");
  if (wanted.max_age) directive("max-age=" + std::to_string(*wanted.max_age));
  if (wanted.min_fresh) directive("min-fresh=" + std::to_string(*wanted.min_fresh));
  if (wanted.max_stale) directive("max-stale=" + std::to_string(*wanted.max_stale));
  return lines;
}

std::string date_of(Seconds seconds) {
  const std::time_t time = seconds;
  std::tm utc{};
  ::gmtime_r(&time, &utc);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc)};
}

Said said_of(const Sent& sent, Seconds now) {
  // One line, never empty: a 304's then always replaces the stored one.
  std::string control = "x-known=no";
  const auto word = [&](bool on, const std::string& text) { control += on ? ", " + text : ""; };
  const auto number = [&](const std::optional<Seconds>& value, const std::string& name) {
    if (value) control += ", " + name + "=" + std::to_string(*value);
  };
  word(sent.no_store, "no-store");
  word(sent.no_cache, "no-cache");
  word(sent.is_private, "private");
  word(sent.is_public, "public");
  word(sent.must_revalidate, "must-revalidate");
  word(sent.must_understand, "must-understand");
  number(sent.max_age, "max-age");
  number(sent.s_maxage, "s-maxage");
  number(sent.while_revalidate, "stale-while-revalidate");
  number(sent.if_error, "stale-if-error");
  std::string lines = "Cache-Control: " + control + "\nDate: " + date_of(now) + "\n";
  if (sent.expires_in) lines += "Expires: " + date_of(now + *sent.expires_in) + "\n";
  if (sent.age != 0) lines += "Age: " + std::to_string(sent.age) + "\n";
  if (sent.etag != 0) lines += "ETag: \"v" + std::to_string(sent.etag) + "\"\n";
  if (sent.varies) lines += "Vary: X-A\n";
  if (sent.cookie) lines += "Set-Cookie: a=b\n";
  return {sent.status, lines, sent.text, {}};
}

/// \returns what went wrong, empty when nothing did.
std::string run(std::uint64_t seed, int steps) {
  Exchanges make(seed);
  TestCache position(std::make_shared<Cache>(Sizes{1 << 24, 1 << 16}, seed));
  Model model;
  int version = 1;
  for (int step = 0; step < steps; ++step) {
    position.now += make.some(8);
    if (make.chance(15)) ++version;
    const Wanted wanted = make.wanted();
    Sent sent = make.sent(version);
    const Says says = model.ask(wanted, position.now);
    // The origin: the same text for the same version, so that a HEAD may speak of what is stored.
    sent.text = "v" + std::to_string(version) + " a" + std::to_string(wanted.a) + " p" + std::to_string(wanted.path);
    std::string validator;
    const bool holds = says == Says::kValidate && model.found().sent.etag == version;
    if (holds && sent.status == 200) {
      sent.status = 304;
      sent.etag = version;
    }
    const Got got = position.exchange(
        wanted.method, lines_of(wanted),
        [&](const std::string& request) {
          const std::size_t at = request.find("If-None-Match: ");
          if (at != std::string::npos) validator = request.substr(at + 15, request.find('\r', at) - at - 15);
          return said_of(sent, position.now);
        },
        "/" + std::to_string(wanted.path));

    const std::string where = "seed " + std::to_string(seed) + ", step " + std::to_string(step) + ": ";
    if ((says == Says::kRefuse) != got.refused) return where + "refused, or not";
    if (says == Says::kRefuse) continue;
    if ((says == Says::kReuse) != (got.from_cache && !got.asked_origin)) {
      return where + "reused, or not: " + got.cache_status;
    }
    const std::string expected_validator =
        says == Says::kValidate ? "\"v" + std::to_string(model.found().sent.etag) + "\"" : "";
    if (says == Says::kReuse) {
      if (wanted.method == "GET" && got.text != model.found().sent.text) return where + "another text: " + got.text;
      // A refresh is an exchange of its own, which the model is told of.
      if (got.refreshes) {
        Wanted again = wanted;
        again.method = "GET";
        if (!model.answers(again, sent, position.now)) model.learn(again, sent, position.now);
      }
      continue;
    }
    if (validator != expected_validator) return where + "validated by " + validator + ", not " + expected_validator;
    const bool answers = model.answers(wanted, sent, position.now);
    const std::string expected = answers ? model.found().sent.text : wanted.method == "HEAD" ? "" : sent.text;
    if (got.from_cache != answers) return where + "answered after all, or not: " + got.cache_status;
    if (got.text != expected) return where + "`" + got.text + "`, not `" + expected + "`";
    if (sent.status == 304 || !answers) model.learn(wanted, sent, position.now);
  }
  return {};
}

TEST(Model, RandomExchangesGoAsTheRfcSays) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) ASSERT_EQ(run(seed, 300), "");
}

}  // namespace
}  // namespace edge::runtime::cache
