#include "auth/vault.h"

#include <gtest/gtest.h>

#include <cstdio>

namespace atl::auth {
namespace {

TEST(Vault, OpensWhatItSealedByNameAndField) {
  const std::string file = testing::TempDir() + "vault_test.key";
  std::remove(file.c_str());
  Vault vault(file);
  core::State state;
  const auto keep = [&](const std::string& name, const std::string& text) {
    const auto sealed = vault.seal(text);
    ASSERT_TRUE(sealed) << sealed.error().message;
    EXPECT_EQ(sealed->find(text), std::string::npos);
    state.kept[{NamespaceId{1}, kSecretKind, name}].text = *sealed;
  };
  keep("plain", "s3cr3t-words");
  keep("json", R"({"user":"ada","deep":{"n":7}})");
  EXPECT_EQ(vault.reveal(state, {1}, "plain").value_or(""), "s3cr3t-words");
  EXPECT_EQ(vault.reveal(state, {1}, "json/user").value_or(""), "ada");
  EXPECT_EQ(vault.reveal(state, {1}, "json/deep/n").value_or(""), "7");
  EXPECT_EQ(Vault(file).reveal(state, {1}, "plain").value_or(""), "s3cr3t-words")
      << "the key outlives the program";
  for (const char* none : {"other", "json/no", "plain/x", "json/user/x"}) {
    const auto missing = vault.reveal(state, {1}, none);
    ASSERT_FALSE(missing) << none;
    EXPECT_EQ(missing.error().message.find("s3cr3t"), std::string::npos);
  }
  EXPECT_FALSE(vault.reveal(state, {2}, "plain")) << "of another namespace";
  std::remove(file.c_str());
}

}  // namespace
}  // namespace atl::auth
