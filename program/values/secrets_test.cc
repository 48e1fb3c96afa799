#include "program/values/secrets.h"

#include <gtest/gtest.h>

#include "base/text/base64.h"
#include "program/test_program.h"

namespace edge::program {
namespace {

TEST(Secrets, ComeBackAsTheyWereWritten) {
  const std::string bytes("\0\xff\n key", 7);
  SecretSet set;
  set.secrets.push_back({"b", "two", {{"x", std::make_shared<const std::string>(bytes)}}});
  set.secrets.push_back(
      {"a", "one", {{"z", std::make_shared<const std::string>("1")}, {"y", std::make_shared<const std::string>("")}}});
  set.sort();
  EXPECT_EQ(set.secrets.front().name, "one");
  const auto read = read_secrets(write_secrets(set));
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_TRUE(*read == set);
  EXPECT_EQ(*read->find("b", "two", "x"), bytes);
  EXPECT_EQ(*read->find("a", "one", "y"), "");
  EXPECT_EQ(read->find("a", "one", "x"), nullptr);
  EXPECT_EQ(read->find("a", "two", "x"), nullptr);
}

TEST(Secrets, RefusesOtherDocumentsWithoutQuotingAValue) {
  for (const std::string text :
       {"", "[]", "{\"other\":1}", "{\"secrets\":[{}]}", "{\"secrets\":[{\"namespace\":\"a\"}]}",
        "{\"secrets\":[{\"namespace\":\"a\",\"name\":\"b\",\"data\":{\"k\":\"hidden!\"}}]}",
        "{\"secrets\":[{\"namespace\":\"a\",\"name\":\"b\",\"data\":{\"k\":7}}]}",
        "{\"secrets\":[{\"namespace\":\"a\",\"name\":\"b\"},{\"namespace\":\"a\",\"name\":\"b\"}]}"}) {
    const auto read = read_secrets(text);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_EQ(read.error().text.find("hidden"), std::string::npos);
  }
}

TEST(Secrets, OnlyThoseThatAProgramNamesAreItsOwn) {
  const auto value = std::make_shared<const std::string>("x");
  SecretSet all;
  for (const char* name : {"authority", "certificate", "client", "clients", "nobodys", "oidc", "sessions", "users"}) {
    all.secrets.push_back({"shop", name, {{"a", value}, {"b", value}}});
  }
  all.secrets.push_back({"zoo", "users", {{"a", value}}});

  const auto named = [](SectionBuilder& builder, const char* name) {
    return SecretRecord{builder.string("shop"), builder.string(name), builder.string("a")};
  };
  const auto listed = [&](SectionBuilder& builder, const char* name) {
    return builder.array(std::vector<SecretRecord>{named(builder, name)});
  };
  SectionBuilder listeners(sizeof(ListenersHeader));
  ListenerTlsRecord tls{};
  tls.mode = TlsMode::kTerminate;
  tls.min_version = TlsVersion::k12;
  tls.certificates = listed(listeners, "certificate");
  tls.client_authorities = listed(listeners, "clients");
  ListenerRecord listener{};
  listener.tls = listeners.array(std::vector<ListenerTlsRecord>{tls});
  ListenersHeader listeners_header{};
  listeners_header.listeners = listeners.array(std::vector<ListenerRecord>{listener});

  SectionBuilder backends(sizeof(BackendsHeader));
  BackendTlsRecord backend_tls{};
  backend_tls.authorities = listed(backends, "authority");
  backend_tls.client_certificate = listed(backends, "client");
  BackendRecord backend{};
  backend.tls = backends.array(std::vector<BackendTlsRecord>{backend_tls});
  BackendsHeader backends_header{};
  backends_header.backends = backends.array(std::vector<BackendRecord>{backend});

  SectionBuilder policies(sizeof(PoliciesHeader));
  PoliciesHeader policies_header{};
  policies_header.basic_auths = policies.array(std::vector<BasicAuthRecord>{{{}, named(policies, "users"), 0}});
  OidcRecord oidc{};
  oidc.client_secret = named(policies, "oidc");
  oidc.session_secret = named(policies, "sessions");
  policies_header.oidcs = policies.array(std::vector<OidcRecord>{oidc});

  const std::vector<std::byte> sections[] = {std::move(listeners).finish(listeners_header),
                                             std::move(backends).finish(backends_header),
                                             std::move(policies).finish(policies_header)};
  const SecretSet own = named_by(SectionView(sections[0]), SectionView(sections[1]), SectionView(sections[2]), all);
  std::string names;
  for (const NamedSecret& secret : own.secrets) {
    names += secret.name_space + "/" + secret.name + " ";
    EXPECT_EQ(secret.values.size(), 2U) << "what goes with it stays with it";
  }
  EXPECT_EQ(names, "shop/authority shop/certificate shop/client shop/clients shop/oidc shop/sessions shop/users ");
}

TEST(Base64, KnowsTheRfcsVectors) {
  const std::pair<std::string, std::string> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
  EXPECT_EQ(from_base64("Zm9v\r\nYmFy\n"), "foobar");
  for (const std::string bad : {"Z", "Zg", "Zg=", "Zg===", "=Zg=", "Z-g=", "Zg==Zg=="})
    EXPECT_FALSE(from_base64(bad)) << bad;
}

}  // namespace
}  // namespace edge::program
