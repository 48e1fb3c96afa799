#include "program/read.h"

#include <cstring>
#include <fstream>
#include <random>

#include <gmock/gmock.h>

#include "program/dump/dump.h"
#include "program/evaluate/abi.h"
#include "program/evaluate/lookup.h"
#include "program/sha256.h"
#include "program/sign.h"
#include "program/test_program.h"

namespace edge::program {
namespace {

using sample::Host;
using sample::program_of;
using sample::read_copy;
using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;

std::string fault(const Bytes& bytes) {
  const auto program = read_copy(bytes);
  return program ? "" : program.error().text;
}

Bytes program_with(Host host) {
  const std::uint64_t id = host.header.host_id;
  return program_of({{SectionKind::kHost, id, make_blob(std::move(host).build())}});
}

void put(Bytes& bytes, std::size_t offset, std::uint64_t value, std::size_t size) {
  std::memcpy(bytes.data() + offset, &value, size);
}

TEST(Sha256, IsSha256) {
  const char text[] = "abc";
  EXPECT_EQ(to_hex(sha256(std::as_bytes(std::span(text, 3)))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, ManyAtOnceAreTheSame) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(std::size_t{3} << 20);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  // Around the sizes where padding takes another block, none at all, and one much larger than its neighbours.
  std::vector<std::span<const std::byte>> pieces;
  for (std::size_t size = 0; size < 300; ++size) pieces.push_back(std::span(bytes).subspan(random() % 1000, size));
  for (int i = 0; i < 300; ++i) pieces.push_back(std::span(bytes).subspan(random() % 1000, random() % 20'000));
  pieces.insert(pieces.begin() + 20, bytes);
  for (const std::uint64_t announced : {std::uint64_t{0}, std::uint64_t{bytes.size()}}) {
    ManyHashes hashes(announced);
    std::vector<Hash> found(pieces.size());
    hashes.hash(pieces, found);
    for (std::size_t i = 0; i < pieces.size(); ++i) EXPECT_EQ(found[i], sha256(pieces[i])) << pieces[i].size();
  }
}

TEST(Lookup, NamesFoldFromTheRightAndPathsFromTheLeft) {
  std::uint64_t hash = name_hash_step(kNameSeed, "com");
  EXPECT_EQ(hash, name_hash("com"));
  hash = name_hash_step(name_hash_step(hash, "example"), "a");
  EXPECT_EQ(hash, name_hash("a.example.com"));
  EXPECT_EQ(path_hash("/a/b"), path_hash_step(path_hash_step(kPathSeed, "a"), "b"));
  EXPECT_EQ(path_hash("/"), path_hash_step(kPathSeed, ""));
  EXPECT_EQ(path_hash("/a/"), path_hash_step(path_hash("/a"), ""));
  EXPECT_NE(path_hash("/ab"), path_hash("/a/b"));
}

TEST(SectionBuilder, InternsTextAndAlignsRecords) {
  SectionBuilder builder(16);
  const StringRef a = builder.string("abc");
  EXPECT_EQ(builder.string("abc").offset, a.offset);
  EXPECT_EQ(builder.string("").size, 0u);
  EXPECT_EQ(builder.array(std::vector<std::uint64_t>{1}).offset % 8, 0u);
  for (int i = 0; i < 1000; ++i) builder.string("text " + std::to_string(i));
  EXPECT_EQ(builder.string("text 7").size, 6u);
  EXPECT_EQ(builder.string("abc").offset, a.offset);
}

TEST(SectionBuilder, ProbesEndSoonAndAlwaysEnd) {
  std::vector<std::uint64_t> hashes;
  for (std::uint64_t i = 0; i < 5000; ++i) hashes.push_back(hash_mix(i + 1, 0x9e3779b97f4a7c15));
  const SlotTable table = build_slots(hashes);
  EXPECT_LE(hashes.size() * 4, table.slots.size() * 3);
  EXPECT_LE(table.max_probe, 32u);
  // Names chosen to collide cost a longer probe, never one without an end.
  const SlotTable colliding = build_slots(std::vector<std::uint64_t>(100, 42));
  EXPECT_EQ(colliding.max_probe, 100u);
  EXPECT_GT(colliding.slots.size(), 100u);
  EXPECT_TRUE(build_slots({}).slots.empty());
}

TEST(Write, TheOrderOfSectionsDoesNotShow) {
  const SectionInput a{SectionKind::kHost, 1, make_blob(Host(1).build())};
  const SectionInput b{SectionKind::kHost, 2, make_blob(Host(2).build())};
  EXPECT_EQ(program_of({a, b}), program_of({b, a}));
}

TEST(Read, FindsSectionsAndNamesTheProgramByItsHash) {
  const auto program = read_copy(program_with(Host(7)));
  ASSERT_TRUE(program.ok()) << program.error().text;
  EXPECT_EQ(program->sections().size(), 4u);
  EXPECT_NE(program->find(SectionKind::kHost, 7), nullptr);
  EXPECT_EQ(program->find(SectionKind::kHost, 8), nullptr);
  EXPECT_EQ(program->find(SectionKind::kNative, 7), nullptr);
  EXPECT_EQ(program->hash(), manifest_hash(program->manifest()));
  EXPECT_NE(program->hash(), read_copy(program_with(Host(8)))->hash());
  EXPECT_THAT(dump_sections(*program), HasSubstr("unsigned\n"));
}

TEST(Read, RefusesWhatIsNoProgram) {
  EXPECT_THAT(fault({}), HasSubstr("shorter than its header"));
  EXPECT_THAT(fault(Bytes(64)), HasSubstr("magic"));
  Bytes bytes = program_of({});
  put(bytes, 8, kFormatVersion + 1, 4);
  EXPECT_EQ(read_copy(bytes).error().code, ErrorCode::kUnimplemented);
  bytes = program_of({});
  put(bytes, 16, 0x0fffffff, 4);
  EXPECT_THAT(fault(bytes), HasSubstr("section_count"));
  bytes = program_of({});
  bytes.push_back({});
  EXPECT_THAT(fault(bytes), HasSubstr("file_size"));
}

TEST(Read, RefusesEveryTruncation) {
  const Bytes bytes = program_with(Host(7));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Bytes shorter(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_NE(fault(shorter), "") << size;
    // The header may lie about it.
    if (size < sizeof(FileHeader)) continue;
    put(shorter, offsetof(FileHeader, file_size), size, 8);
    EXPECT_NE(fault(shorter), "") << size;
  }
}

TEST(Read, NoByteCanChangeUnseen) {
  Bytes bytes = program_with(Host(7));
  const Hash hash = read_copy(bytes)->hash();
  const auto key = SigningKey::generate();
  ASSERT_TRUE(key->sign(bytes).ok());
  const VerifyKey verifier = VerifyKey::of(*key);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= std::byte{1};
    const auto program = read_copy(bytes);
    if (program) {
      EXPECT_FALSE(verifier.verify(*program).ok()) << i;
    }
    bytes[i] ^= std::byte{1};
  }
  EXPECT_EQ(read_copy(bytes)->hash(), hash) << "a signature does not change the name";
}

TEST(Read, MissingSectionsAreSeen) {
  const auto none = assemble(Target::kTablesOnly, {});
  EXPECT_THAT(fault(none), HasSubstr("no listeners section"));
  Host host(7);
  host.header.native_shard = 3;
  EXPECT_THAT(fault(program_with(std::move(host))), HasSubstr("native_shard is missing"));
}

TEST(Read, PredicatesHaveNoCycleAndABoundedCost) {
  Host forward(1);
  forward.node(Op::kNot, 0, 1);
  forward.node(Op::kFalse);
  EXPECT_THAT(fault(program_with(std::move(forward))), HasSubstr("nodes of record 0"));

  Host deep(1);
  deep.node(Op::kFalse);
  for (std::uint32_t i = 0; i < kMaxPredicateDepth - 1; ++i) deep.node(Op::kNot, 0, i);
  EXPECT_EQ(fault(program_with(deep)), "");
  deep.node(Op::kNot, 0, kMaxPredicateDepth - 1);
  EXPECT_THAT(fault(program_with(std::move(deep))), HasSubstr("nodes of record 64"));

  Host doubling(1);
  std::uint32_t node = doubling.node(Op::kFalse);
  for (int i = 0; i < 15; ++i) node = doubling.list_node(Op::kOr, {node, node});
  EXPECT_EQ(fault(program_with(doubling)), "");
  doubling.list_node(Op::kOr, {node, node});
  EXPECT_THAT(fault(program_with(std::move(doubling))), HasSubstr("nodes of record 16"));

  Host slot(1);
  slot.node(Op::kPresent, kFirstHostSlot);
  EXPECT_THAT(fault(program_with(std::move(slot))), HasSubstr("nodes of record 0"));

  Host gap(1);
  gap.operands = {0};
  gap.list_node(Op::kAnd, {});
  EXPECT_THAT(fault(program_with(std::move(gap))), HasSubstr("nodes of record 0"));
}

TEST(Read, ArraysStayInsideTheirSectionAndDoNotShareIt) {
  Host outside(1);
  outside.header.groups = {1u << 20, 1};
  EXPECT_THAT(fault(program_with(std::move(outside))), HasSubstr("groups"));
  Host odd(1);
  odd.header.groups = {2, 0};
  EXPECT_THAT(fault(program_with(std::move(odd))), HasSubstr("groups"));
  Host shared(1);
  shared.header.groups = {0, sizeof(HostHeader) / sizeof(GroupRecord)};
  shared.header.candidates = {0, sizeof(HostHeader) / sizeof(CandidateRecord)};
  EXPECT_NE(fault(program_with(std::move(shared))), "");
}

/// One path table of the words given; the header is what `change` makes of a sound one.
template <typename Change>
std::string fault_of_paths(std::vector<std::uint32_t> words, Change change) {
  Host host(1);
  host.header.path_displacements = host.builder.array(std::vector<std::uint8_t>(4));
  host.header.paths = host.builder.array(words);
  host.header.path_stride = 6;
  host.header.max_probe = 1;
  change(host.header);
  return fault(program_with(std::move(host)));
}
std::string fault_of_path(std::uint32_t key, StringRef far = {}, Target32 exact = kNone, Target32 prefix = kNone) {
  return fault_of_paths({key, exact, prefix, far.offset, far.size, 0}, [](HostHeader&) {});
}

TEST(Read, PathsLieInTheirRecordsOrInTheSection) {
  EXPECT_EQ(fault_of_path(12), "");
  EXPECT_EQ(fault_of_path(0xabcdef00 + 12), "");
  EXPECT_EQ(fault_of_path(kNoPath), "");
  EXPECT_EQ(fault_of_path(kFarPath, {8, 200}), "");
  for (const std::string& wrong :
       {fault_of_path(13), fault_of_path(0xfe), fault_of_path(kFarPath, {1 << 20, 1}),
        fault_of_path(kFarPath, {0, 0xffffffff}), fault_of_path(kFarPath, {0xffffffff, 0xffffffff}),
        fault_of_path(0xabcdef00), fault_of_path(kNoPath, {}, 0), fault_of_path(12, {}, 0),
        fault_of_path(12, {}, kNone, 0), fault_of_path(12, {}, kActionBit)})
    EXPECT_THAT(wrong, HasSubstr("paths"));
}

TEST(Read, PathTablesAreOfWholeRecords) {
  const std::vector<std::uint32_t> words = {1, kNone, kNone, 0, 0, 0, 1, kNone, kNone, 0, 0, 0};
  EXPECT_EQ(fault_of_paths(words, [](HostHeader& header) { header.max_probe = 2; }), "");
  for (const std::uint32_t probes : {0U, 3U, 0xffffffffU})
    EXPECT_THAT(fault_of_paths(words, [&](HostHeader& header) { header.max_probe = probes; }), HasSubstr("max_probe"));
  for (const std::uint32_t stride : {0U, 3U, 4U, 5U, 7U, 33U, 0xffffffffU})
    EXPECT_THAT(fault_of_paths(words, [&](HostHeader& header) { header.path_stride = stride; }), HasSubstr("paths"));
  EXPECT_THAT(fault_of_paths({}, [](HostHeader& header) { header.max_probe = 0; }), HasSubstr("paths"));
  EXPECT_EQ(fault_of_paths({}, [](HostHeader& header) { header.path_stride = header.max_probe = 0; }), "");
  for (const std::uint32_t count : {0U, 3U, 1U << 20})
    EXPECT_THAT(fault_of_paths(words, [&](HostHeader& header) { header.path_displacements.count = count; }),
                HasSubstr("path_displacements"));
}

TEST(Read, GroupsDoNotShareCandidates) {
  const auto fault_of_groups = [](const std::vector<GroupRecord>& groups) {
    Host host(1);
    host.header.candidates = host.builder.array(std::vector<CandidateRecord>(2, {kNone, 0}));
    host.header.groups = host.builder.array(groups);
    return fault(program_with(std::move(host)));
  };
  EXPECT_THAT(fault_of_groups({{0, 2}, {0, 2}}), HasSubstr("groups"));
  EXPECT_THAT(fault_of_groups({{0, 1}, {1, 1}, {1, 1}}), HasSubstr("groups"));
  EXPECT_THAT(fault_of_groups({{0, 1}, {1, 1}}), HasSubstr("candidates"));  // there is no action 0
}

TEST(Read, WhatARequestMustPassIsThere) {
  Host host(1);
  host.header.policy_refs = host.builder.array(std::vector<std::uint64_t>{5});
  EXPECT_THAT(fault(program_with(std::move(host))), HasSubstr("a policy is missing"));
}

TEST(Read, PoliciesNameSettingsOfTheirTypeAndStayInside) {
  const auto with = [](PolicyRecord policy, std::uint32_t limits) {
    SectionBuilder builder(sizeof(PoliciesHeader));
    PoliciesHeader header{};
    header.policies = builder.array(std::vector{policy});
    const auto keys = builder.array(std::vector{RateKeyRecord{RateKey::kSourceIp, {}}});
    const auto rates = builder.array(std::vector{RateRecord{1, 1'000'000'000, 1, keys}});
    header.rate_limits = builder.array(std::vector<RateLimitRecord>(limits, RateLimitRecord{rates, 0, 0}));
    return program_of({{SectionKind::kPolicies, 0, make_blob(std::move(builder).finish(header))}});
  };
  const PolicyRecord sound{7, {}, {}, PolicyType::kRateLimit, 0};
  EXPECT_EQ(fault(with(sound, 1)), "");
  EXPECT_EQ(fault(with({7, {}, {}, PolicyType::kUnknown, kNone}, 0)), "");
  for (const PolicyRecord& wrong :
       {PolicyRecord{7, {}, {}, PolicyType::kRateLimit, 1}, PolicyRecord{7, {}, {}, PolicyType::kJwt, 0},
        PolicyRecord{7, {}, {}, PolicyType::kUnknown, 0}, PolicyRecord{7, {}, {}, static_cast<PolicyType>(16), kNone},
        PolicyRecord{7, {1u << 20, 1}, {}, PolicyType::kRateLimit, 0},
        PolicyRecord{0, {}, {}, PolicyType::kRateLimit, 0}}) {
    EXPECT_THAT(fault(with(wrong, 1)), HasSubstr("policies of record 0"));
  }
}

/// Of a program whose policies `add` has filled in.
template <typename Add>
std::string fault_of_policies(Add add) {
  SectionBuilder builder(sizeof(PoliciesHeader));
  PoliciesHeader header{};
  add(builder, header);
  return fault(program_of({{SectionKind::kPolicies, 0, make_blob(std::move(builder).finish(header))}}));
}

TEST(Read, LimitsOfPoliciesAreFewAndNotOfNothing) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const auto of_rates = [](const RateRecord& rate, std::size_t count) {
    return fault_of_policies([&](SectionBuilder& builder, PoliciesHeader& header) {
      std::vector<RateRecord> rates(count, rate);
      for (RateRecord& each : rates) each.keys = builder.array(std::vector{RateKeyRecord{RateKey::kSourceIp, {}}});
      header.rate_limits = builder.array(std::vector{RateLimitRecord{builder.array(rates), 0, 0}});
    });
  };
  const auto of_places = [](std::uint32_t requests, std::size_t count) {
    return fault_of_policies([&](SectionBuilder& builder, PoliciesHeader& header) {
      std::vector<ConcurrencyRecord> limits(count, {{}, requests, 0});
      for (auto& each : limits) each.keys = builder.array(std::vector{RateKeyRecord{RateKey::kSourceIp, {}}});
      header.concurrency_limits = builder.array(std::vector{ConcurrencyLimitRecord{builder.array(limits), 503, 0}});
    });
  };
  EXPECT_EQ(of_rates({1, kSecond, 1, {}}, 8), "");
  EXPECT_EQ(of_rates({1, (std::uint64_t{1} << 63U) - 1, 1, {}}, 1), "");
  EXPECT_EQ(of_places(1, 8), "");
  for (const RateRecord& wrong : {RateRecord{0, kSecond, 1, {}}, RateRecord{1, kSecond, 0, {}}, RateRecord{1, 0, 1, {}},
                                  RateRecord{1, std::uint64_t{1} << 63U, 1, {}}})
    EXPECT_THAT(of_rates(wrong, 1), HasSubstr("rate_limits.limits of record 0"));
  for (const std::size_t count : {0U, 9U}) {
    EXPECT_THAT(of_rates({1, kSecond, 1, {}}, count), HasSubstr("rate_limits of record 0"));
    EXPECT_THAT(of_places(1, count), HasSubstr("concurrency_limits of record 0"));
  }
  EXPECT_THAT(of_places(0, 1), HasSubstr("concurrency_limits.limits of record 0"));
}

TEST(Read, NamesOfCertificatesAscend) {
  const auto with = [](std::string_view first, std::string_view second, std::uint32_t allows_all) {
    return fault_of_policies([&](SectionBuilder& builder, PoliciesHeader& header) {
      ClientCertificateRecord record{};
      record.allows_all = allows_all;
      record.deny.uris = builder.array(std::vector{builder.string(first), builder.string(second)});
      header.client_certificates = builder.array(std::vector{record});
    });
  };
  EXPECT_EQ(with("a:1", "a:2", 0), "");
  EXPECT_THAT(with("a:2", "a:1", 0), HasSubstr("client_certificates.uris"));
  EXPECT_THAT(with("a:1", "a:2", 2), HasSubstr("client_certificates of record 0"));
}

TEST(Read, NamesOfCertificatesAreFewAndShort) {
  const auto with = [](std::size_t count, std::size_t bytes, auto into) {
    return fault_of_policies([&](SectionBuilder& builder, PoliciesHeader& header) {
      // All refer to the same bytes.
      const StringRef text = builder.string(std::string(bytes, 'a'));
      ClientCertificateRecord record{};
      record.allow.*into = builder.array(std::vector(count, text));
      header.client_certificates = builder.array(std::vector{record});
    });
  };
  using Record = CertificateNamesRecord;
  EXPECT_EQ(with(kMostCertificateNames, kLongestCertificateName, &Record::uris), "");
  EXPECT_EQ(with(kMostFingerprints, 64, &Record::fingerprints), "");
  EXPECT_THAT(with(kMostCertificateNames + 1, 1, &Record::uris), HasSubstr("client_certificates.uris"));
  EXPECT_THAT(with(kMostCertificateNames + 1, 1, &Record::common_names), HasSubstr("client_certificates.common_names"));
  EXPECT_THAT(with(1, kLongestCertificateName + 1, &Record::dns_names), HasSubstr("client_certificates.dns_names"));
  EXPECT_THAT(with(kMostFingerprints + 1, 64, &Record::fingerprints), HasSubstr("client_certificates.fingerprints"));
}

TEST(Read, TheHeaderOfAnIdentityIsAFieldsName) {
  const auto with = [](std::string_view header_name) {
    return fault_of_policies([&](SectionBuilder& builder, PoliciesHeader& header) {
      ClientCertificateRecord record{};
      record.identity_header = builder.string(header_name);
      header.client_certificates = builder.array(std::vector{record});
    });
  };
  EXPECT_EQ(with(""), "");
  EXPECT_EQ(with("x-client"), "");
  for (const char* const wrong : {"x client", "x-client:", "x\r\nx-admin", "x\xc3\xa4"}) {
    EXPECT_THAT(with(wrong), HasSubstr("client_certificates of record 0")) << wrong;
  }
}

TEST(Read, FiltersOfRequestsAreFewAndShort) {
  const auto with = [](std::size_t count, const std::string& text, auto into) {
    return fault_of_policies([&](SectionBuilder& builder, PoliciesHeader& header) {
      const StringRef all = builder.string(text);
      RequestFilterRecord record{};
      record.status = 403;
      record.*into = builder.array(std::vector(count, all));
      if (record.bodies.count != 0) record.inspected_body_size = 1;
      header.request_filters = builder.array(std::vector{record});
    });
  };
  using Record = RequestFilterRecord;
  const std::string longest(kLongestFilterText, 'a');
  EXPECT_EQ(with(kMostFilterMethods, longest, &Record::methods), "");
  EXPECT_EQ(with(kMostFilterTypes, longest, &Record::content_types), "");
  EXPECT_THAT(with(kMostFilterMethods + 1, "A", &Record::methods), HasSubstr("request_filters.methods"));
  EXPECT_THAT(with(kMostFilterTypes + 1, "a", &Record::content_types), HasSubstr("request_filters.content_types"));
  for (const auto into : {&Record::paths, &Record::queries, &Record::bodies}) {
    EXPECT_EQ(with(kMostFilterPatterns, longest, into), "");
    EXPECT_THAT(with(kMostFilterPatterns + 1, "a", into), HasSubstr("request_filters."));
    EXPECT_THAT(with(1, longest + "a", into), HasSubstr("request_filters."));
  }
  for (const char* const wrong : {"", "GET,", "GET\r\nX-Admin: 1", "G T"}) {
    EXPECT_THAT(with(1, wrong, &Record::methods), HasSubstr("request_filters.methods")) << wrong;
  }
}

TEST(Read, MethodsOfAFilterAscendAndItsHeadersAreFew) {
  const auto with = [](std::string_view first, std::string_view second, std::size_t headers, std::size_t bytes) {
    return fault_of_policies([&](SectionBuilder& builder, PoliciesHeader& header) {
      RequestFilterRecord record{};
      record.status = 403;
      record.methods = builder.array(std::vector{builder.string(first), builder.string(second)});
      record.headers = builder.array(std::vector(headers, FieldRecord{{}, builder.string(std::string(bytes, 'a'))}));
      header.request_filters = builder.array(std::vector{record});
    });
  };
  EXPECT_EQ(with("A", "B", kMostFilterPatterns, kLongestFilterText), "");
  EXPECT_THAT(with("B", "A", 1, 1), HasSubstr("request_filters.methods"));
  EXPECT_THAT(with("A", "B", kMostFilterPatterns + 1, 1), HasSubstr("request_filters.headers"));
  EXPECT_THAT(with("A", "B", 1, kLongestFilterText + 1), HasSubstr("request_filters.headers"));
}

TEST(Read, AFilterOfBodiesLooksAtSomeOfThem) {
  const auto with = [](std::uint32_t inspected, bool bodies, std::uint32_t status) {
    return fault_of_policies([&](SectionBuilder& builder, PoliciesHeader& header) {
      RequestFilterRecord record{};
      record.inspected_body_size = inspected;
      record.status = status;
      if (bodies) record.bodies = builder.array(std::vector{builder.string("bad")});
      header.request_filters = builder.array(std::vector{record});
    });
  };
  EXPECT_EQ(with(kMostInspectedBody, true, 403), "");
  EXPECT_EQ(with(0, false, 403), "");
  EXPECT_THAT(with(0, true, 403), HasSubstr("request_filters of record 0"));
  EXPECT_THAT(with(1, false, 403), HasSubstr("request_filters of record 0"));
  EXPECT_THAT(with(kMostInspectedBody + 1, true, 403), HasSubstr("request_filters of record 0"));
  EXPECT_THAT(with(0, false, 200), HasSubstr("request_filters of record 0"));
}

TEST(Read, AnswersOfPoliciesHaveNoLinesThatTheyDoNotSay) {
  const auto of_answer = [](std::string_view content_type, std::string_view name, std::string_view value) {
    return fault_of_policies([&](SectionBuilder& builder, PoliciesHeader& header) {
      const PageRecord page{builder.string(content_type), builder.string("a\r\nbody")};
      const auto fields = builder.array(std::vector{FieldRecord{builder.string(name), builder.string(value)}});
      header.fixed_responses = builder.array(std::vector{FixedResponseRecord{200, 0, page, fields}});
    });
  };
  EXPECT_EQ(of_answer("text/html; charset=utf-8", "X-A", "a\tb \xc3\xa9"), "");
  for (const std::string_view wrong : {"a\r\nX-B: b", "a\nb", "a\x1f", "\x7f", "\x01"}) {
    EXPECT_THAT(of_answer(wrong, "X-A", "a"), HasSubstr("fixed_responses of record 0"));
    EXPECT_THAT(of_answer("text/plain", wrong, "a"), HasSubstr("fixed_responses.fields of record 0"));
    EXPECT_THAT(of_answer("text/plain", "X-A", wrong), HasSubstr("fixed_responses.fields of record 0"));
  }
}

TEST(Read, RequestsWithoutARouteAreOfListenersThatAreThere) {
  EXPECT_THAT(fault_of_policies([](SectionBuilder& builder, PoliciesHeader& header) {
                header.no_routes = builder.array(std::vector{NoRouteRecord{0, 0, {}}});
              }),
              HasSubstr("no_routes names a listener that is missing"));
}

TEST(Read, ClaimsAreVerifiedByAPolicyThatIsThere) {
  using Policy = PolicyRecord&;
  using Record = ListenerClaimsRecord&;
  using Claims = std::vector<ClaimFieldRecord>&;
  const auto fault_of = [](auto change) {
    return fault_of_policies([&](SectionBuilder& builder, PoliciesHeader& header) {
      PolicyRecord policy{7, {}, {}, PolicyType::kJwt, 0};
      ListenerClaimsRecord record{7, 0, 0, {}};
      std::vector<ClaimFieldRecord> claims{{builder.string("plan"), {}, 0}};
      change(policy, record, claims);
      JwtIssuerRecord issuer{};
      issuer.keys = JwtKeys::kUri;
      JwtRecord jwt{};
      jwt.issuers = builder.array(std::vector{issuer});
      header.jwts = builder.array(std::vector{jwt});
      header.policies = builder.array(std::vector{policy});
      record.fields = builder.array(claims);
      header.listener_claims = builder.array(std::vector{record});
    });
  };
  // The program that the section is put into has no listener.
  EXPECT_THAT(fault_of([](Policy, Record, Claims) {}), HasSubstr("listener_claims names a listener that is missing"));
  const auto of_record = HasSubstr("listener_claims of record 0");
  EXPECT_THAT(fault_of([](Policy, Record record, Claims) { record.policy = 8; }), of_record);
  EXPECT_THAT(fault_of([](Policy policy, Record, Claims) { policy.settings = kNone; }), of_record);
  EXPECT_THAT(fault_of([](Policy policy, Record, Claims) { policy = {7, {}, {}, PolicyType::kUnknown, kNone}; }),
              of_record);
  EXPECT_THAT(fault_of([](Policy, Record, Claims claims) { claims.clear(); }), of_record);
  const auto of_claim = HasSubstr("listener_claims.fields of record 0");
  EXPECT_THAT(fault_of([](Policy, Record, Claims claims) { claims[0].claim.size = 0; }), of_claim);
  EXPECT_THAT(fault_of([](Policy, Record, Claims claims) { claims[0].claim.size = 1U << 20; }), of_claim);
  EXPECT_THAT(fault_of([](Policy, Record, Claims claims) { claims[0].item.offset = 1U << 30; }), of_claim);
  EXPECT_THAT(fault_of([](Policy, Record, Claims claims) { claims[0].has_item = 2; }), of_claim);
}

TEST(Read, KnownSectionsAreComparedNotTrusted) {
  const Bytes bytes = program_with(Host(7));
  const auto known = read_copy(bytes);
  const auto shared = std::make_shared<const Bytes>(bytes);
  EXPECT_TRUE(read(shared, &*known).ok());
  Bytes changed = bytes;
  changed[known->find(SectionKind::kHost, 7)->view.bytes().data() - known->bytes().data() + 20] ^= std::byte{1};
  EXPECT_FALSE(read(std::make_shared<const Bytes>(changed), &*known).ok());
}

TEST(Read, TheFirstOfManySectionsAtFaultIsNamedHoweverManyThreadsLook) {
  std::vector<SectionInput> sections;
  for (std::uint64_t id = 0; id < 500; ++id)
    sections.push_back({SectionKind::kNative, id, make_blob(Bytes(20'000, static_cast<std::byte>(id)))});
  Bytes bytes = program_of(std::move(sections));
  const auto sound = read_copy(bytes);
  ASSERT_TRUE(sound.ok()) << sound.error().text;
  const auto damage = [&](std::uint64_t id) {
    const auto view = sound->find(SectionKind::kNative, id)->view.bytes();
    bytes[static_cast<std::size_t>(view.data() - sound->bytes().data()) + 19'999] ^= std::byte{1};
  };
  for (const std::uint64_t id : {499, 300, 299, 64, 63, 0}) {
    damage(id);
    for (int again = 0; again < 5; ++again)
      EXPECT_THAT(fault(bytes), HasSubstr("native section " + std::to_string(id) + ": its bytes"));
  }
}

TEST(ReadFile, ReadsAndNamesThePathInErrors) {
  const std::string path = testing::TempDir() + "/read_test.edgeprog";
  const Bytes bytes = program_with(Host(7));
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  const auto program = read_file(path);
  ASSERT_TRUE(program.ok()) << program.error().text;
  EXPECT_EQ(program->hash(), read_copy(bytes)->hash());
  EXPECT_EQ(read_file(path + ".none").error().code, ErrorCode::kNotFound);
  EXPECT_THAT(read_file(testing::TempDir()).error().text, HasSubstr("not a routing program"));
  std::remove(path.c_str());
}

TEST(Sign, VerifiesWithItsOwnKeyAlone) {
  Bytes bytes = program_with(Host(7));
  const auto key = SigningKey::generate();
  const auto again = SigningKey::from_pem(key->private_pem());
  ASSERT_TRUE(again.ok()) << again.error().text;
  EXPECT_EQ(VerifyKey::of(*key).verify(*read_copy(bytes)).error().text, "the program is not signed");
  ASSERT_TRUE(again->sign(bytes).ok());
  const auto program = read_copy(bytes);
  const auto verifier = VerifyKey::from_pem(key->public_pem());
  ASSERT_TRUE(verifier.ok()) << verifier.error().text;
  EXPECT_TRUE(verifier->verify(*program).ok());
  EXPECT_EQ(VerifyKey::of(*SigningKey::generate()).verify(*program).error().text,
            "the program is signed by another key");
  EXPECT_THAT(dump_sections(*program), HasSubstr("signed by key "));

  EXPECT_FALSE(SigningKey::from_pem("nonsense").ok());
  EXPECT_FALSE(SigningKey::from_pem(key->public_pem()).ok());
  EXPECT_FALSE(VerifyKey::from_pem(key->private_pem()).ok());
  Bytes tiny(100);
  EXPECT_FALSE(key->sign(tiny).ok());
}

}  // namespace
}  // namespace edge::program
