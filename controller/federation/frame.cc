#include "controller/federation/frame.h"

#include <algorithm>

#include "controller/federation/wire.h"

namespace edge::federation {
namespace {

constexpr int kMostVersions = 4096;
constexpr int kMostLeaves = 256;
constexpr int kMostListed = 16'384;
constexpr int kMostMembersInFrame = 512;
constexpr std::size_t kMostPublicKey = 512;

Error invalid(const char* what) { return {ErrorCode::kInvalidArgument, std::string("federation: ") + what}; }

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

void write(const Hello& hello, v1::Frame& out) {
  v1::Hello& body = *out.mutable_hello();
  body.set_protocol(hello.protocol);
  body.mutable_replica()->set_cluster(hello.replica.cluster);
  body.mutable_replica()->set_incarnation(hello.replica.incarnation);
  write(hello.lives, *body.mutable_lives());
  write(hello.memory, *body.mutable_memory());
  write(hello.offers, *body.mutable_offers());
  write(hello.accepts, *body.mutable_accepts());
  body.set_policy(hello.policy);
  body.set_public_key(hello.public_key);
}
void write(const Resume& resume, v1::Frame& out) {
  out.mutable_resume()->set_processed(resume.processed);
  out.mutable_resume()->set_stale(resume.stale);
  for (const NamedDot& refused : resume.refused) write(refused, *out.mutable_resume()->add_refused());
  out.mutable_resume()->set_uncertain(resume.uncertain);
}
void write(const Members& members, v1::Frame& out) {
  v1::Members& body = *out.mutable_members();
  for (const Member& member : members.members) write(member, *body.add_members());
}
void write(const Delta& delta, v1::Frame& out) {
  v1::Delta& body = *out.mutable_delta();
  for (const VersionPtr& version : delta.versions) write(*version, *body.add_versions());
  body.set_through(delta.through);
  body.set_listed(delta.listed);
}
void write(const Ack& ack, v1::Frame& out) {
  v1::Ack& body = *out.mutable_ack();
  body.set_through(ack.through);
  body.set_listed(ack.listed);
  for (const Refused& refused : ack.refusals) {
    v1::Refusal& one = *body.add_refusals();
    write(refused.key, *one.mutable_key());
    write(refused.dot, *one.mutable_dot());
    one.set_reason(static_cast<std::uint32_t>(refused.reason));
  }
}
void write(const Digests& digests, v1::Frame& out) {
  v1::Digests& body = *out.mutable_digests();
  for (const KindDigest& kind : digests.kinds) {
    v1::KindDigest& one = *body.add_kinds();
    one.set_kind(kind.kind);
    one.set_root(kind.root);
  }
}
void write(const Leaves& leaves, v1::Frame& out) {
  v1::Leaves& body = *out.mutable_leaves();
  body.set_kind(leaves.kind);
  for (const std::uint64_t leaf : leaves.leaves) body.add_leaves(leaf);
}
void write(const Listing& listing, v1::Frame& out) {
  v1::Listing& body = *out.mutable_listing();
  body.set_kind(listing.kind);
  body.set_answer(listing.answer);
  for (const std::uint32_t leaf : listing.leaves) body.add_leaves(leaf);
  for (const HeldObject& object : listing.objects) {
    v1::Held& held = *body.add_objects();
    write(object.key, *held.mutable_key());
    for (const Dot& dot : object.dots) write(dot, *held.add_dots());
  }
}
void write(const Settle& settle, v1::Frame& out) {
  v1::Settle& body = *out.mutable_settle();
  body.set_answer(settle.answer);
  for (const NamedDot& deletion : settle.deletions) {
    write(deletion, *body.add_deletions());
  }
}

Result<Frame> framed(std::uint64_t number, auto body) { return Frame{.number = number, .body = std::move(body)}; }

Result<Frame> read_hello(std::uint64_t number, const v1::Hello& in) {
  auto lives = read(in.lives());
  if (!lives) return lives.error();
  auto memory = read(in.memory());
  if (!memory) return memory.error();
  auto offers = read(in.offers());
  if (!offers) return offers.error();
  auto accepts = read(in.accepts());
  if (!accepts) return accepts.error();
  if (lives->empty() || lives->back().incarnation != in.replica().incarnation()) {
    return invalid("a greeting without the life that goes on");
  }
  if (in.policy() > 3) return invalid("a policy that is none");
  if (in.public_key().size() > kMostPublicKey) return invalid("a key that is none");
  return framed(number, Hello{.protocol = in.protocol(),
                              .replica = {in.replica().cluster(), in.replica().incarnation()},
                              .lives = std::move(*lives),
                              .memory = std::move(*memory),
                              .offers = std::move(*offers),
                              .accepts = std::move(*accepts),
                              .policy = in.policy(),
                              .public_key = in.public_key()});
}

Result<Frame> read_delta(std::uint64_t number, const v1::Delta& in) {
  if (in.versions_size() > kMostVersions) return invalid("too many versions in one frame");
  Delta delta{.versions = {}, .through = in.through(), .listed = in.listed()};
  for (const v1::Version& version : in.versions()) {
    auto one = read(version);
    if (!one) return one.error();
    delta.versions.push_back(std::move(*one));
  }
  return framed(number, std::move(delta));
}

Result<Frame> read_ack(std::uint64_t number, const v1::Ack& in) {
  if (in.refusals_size() > kMostVersions) return invalid("too many refusals in one frame");
  Ack ack{.through = in.through(), .refusals = {}, .listed = in.listed()};
  for (const v1::Refusal& refusal : in.refusals()) {
    auto key = read(refusal.key());
    if (!key) return key.error();
    auto dot = read(refusal.dot());
    if (!dot) return dot.error();
    const bool known = refusal.reason() > 0 && refusal.reason() <= static_cast<std::uint32_t>(Refusal::kTime);
    ack.refusals.push_back(
        {std::move(*key), std::move(*dot), known ? static_cast<Refusal>(refusal.reason()) : Refusal::kNotGranted});
  }
  return framed(number, std::move(ack));
}

Result<Frame> read_members(std::uint64_t number, const v1::Members& in) {
  if (in.members_size() > kMostMembersInFrame) return invalid("more than 512 members");
  Members members;
  for (const v1::Member& member : in.members()) {
    auto one = read(member);
    if (!one) return one.error();
    members.members.push_back(std::move(*one));
  }
  return framed(number, std::move(members));
}

Result<Frame> read_digests(std::uint64_t number, const v1::Digests& in) {
  if (in.kinds_size() > 64) return invalid("digests of more than 64 kinds");
  Digests digests;
  for (const v1::KindDigest& kind : in.kinds()) digests.kinds.push_back({kind.kind(), kind.root()});
  return framed(number, std::move(digests));
}

Result<Frame> read_listing(std::uint64_t number, const v1::Listing& in) {
  if (in.leaves_size() > kMostLeaves || in.objects_size() > kMostListed) return invalid("too long a list in one frame");
  Listing listing{
      .kind = in.kind(), .leaves = {in.leaves().begin(), in.leaves().end()}, .objects = {}, .answer = in.answer()};
  for (const v1::Held& held : in.objects()) {
    auto key = read(held.key());
    if (!key) return key.error();
    HeldObject object{std::move(*key), {}};
    if (held.dots_size() > 64) return invalid("too many versions of one object");
    for (const v1::Dot& dot : held.dots()) {
      auto one = read(dot);
      if (!one) return one.error();
      object.dots.push_back(std::move(*one));
    }
    listing.objects.push_back(std::move(object));
  }
  return framed(number, std::move(listing));
}

Result<Frame> read_settle(std::uint64_t number, const v1::Settle& in) {
  if (in.deletions_size() > kMostVersions) return invalid("too many deletions in one frame");
  Settle settle{.deletions = {}, .answer = in.answer()};
  for (const v1::NamedDot& deletion : in.deletions()) {
    auto one = read(deletion);
    if (!one) return one.error();
    settle.deletions.push_back(std::move(*one));
  }
  return framed(number, std::move(settle));
}

Result<Frame> read_resume(std::uint64_t number, const v1::Resume& in) {
  if (in.refused_size() > kMostVersions) return invalid("too many refusals in one frame");
  Resume resume{.processed = in.processed(), .stale = in.stale(), .refused = {}, .uncertain = in.uncertain()};
  for (const v1::NamedDot& refused : in.refused()) {
    auto one = read(refused);
    if (!one) return one.error();
    resume.refused.push_back(std::move(*one));
  }
  return framed(number, std::move(resume));
}

}  // namespace

bool Scope::covers(const ObjectKey& key) const {
  if (nothing) return false;
  if (kinds.empty() ? key.kind == "Secret" : !is_one_of(kinds, key.kind)) return false;
  return namespaces.empty() || is_one_of(namespaces, key.name_space);
}

std::string_view text_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone:
      return "taken";
    case Refusal::kUnknownAuthor:
      return "its author is no member of the federation";
    case Refusal::kSignature:
      return "a signature is wrong or missing";
    case Refusal::kNotGranted:
      return "its author may not write this kind in this namespace";
    case Refusal::kNotItsOwn:
      return "the object is another cluster's, and its author has no grant for it";
    case Refusal::kQuota:
      return "its author has as many objects or bytes as it may";
    case Refusal::kTooLarge:
      return "it exceeds a bound";
    case Refusal::kTime:
      return "its time is beyond the year 4199";
  }
  return "";
}

std::string encode(const Frame& frame) {
  v1::Frame out;
  out.set_number(frame.number);
  std::visit([&](const auto& body) { write(body, out); }, frame.body);
  return out.SerializeAsString();
}

Result<Frame> decode_frame(std::string_view bytes) {
  v1::Frame in;
  if (bytes.size() > 2 * kMostFrame || !in.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return invalid("a frame that cannot be read");
  }
  switch (in.body_case()) {
    case v1::Frame::kHello:
      return read_hello(in.number(), in.hello());
    case v1::Frame::kResume:
      return read_resume(in.number(), in.resume());
    case v1::Frame::kMembers:
      return read_members(in.number(), in.members());
    case v1::Frame::kDelta:
      return read_delta(in.number(), in.delta());
    case v1::Frame::kAck:
      return read_ack(in.number(), in.ack());
    case v1::Frame::kDigests:
      return read_digests(in.number(), in.digests());
    case v1::Frame::kLeaves: {
      if (in.leaves().leaves_size() > kMostLeaves) return invalid("more than 256 leaves");
      return framed(in.number(),
                    Leaves{in.leaves().kind(), {in.leaves().leaves().begin(), in.leaves().leaves().end()}});
    }
    case v1::Frame::kListing:
      return read_listing(in.number(), in.listing());
    case v1::Frame::kSettle:
      return read_settle(in.number(), in.settle());
    case v1::Frame::BODY_NOT_SET:
      break;
  }
  return invalid("a frame of a kind that is not known");
}

}  // namespace edge::federation
