// What the tab key offers. Bash is asked itself; the other two are asked in tests/e2e.
#include "cli/completion.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/text.h"
#include "cli/test_server.h"

namespace atl::cli {
namespace {

using testing::run_offline;

// The words that bash offers for the last one of `line`, between spaces.
std::string offered(const std::vector<std::string>& line) {
  const std::string file = ::testing::TempDir() + "/completion.bash";
  std::ofstream script(file);
  script << run_offline({"completion", "bash"}).out << "atoll() { echo \"server=$*\"; }\n"
         << "COMP_WORDS=(atoll";
  for (const std::string& word : line) script << " '" << word << "'";
  script << ")\nCOMP_CWORD=" << line.size() << "\n_atoll\necho \" ${COMPREPLY[*]} \"\n";
  script.close();
  FILE* shell = ::popen(("bash " + file).c_str(), "r");
  std::string out;
  char piece[4096];
  for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof piece, shell)) > 0;)
    out.append(piece, got);
  EXPECT_EQ(::pclose(shell), 0);
  std::filesystem::remove(file);
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

TEST(Completion, AVerbIsFoundBehindGlobalOptions) {
  EXPECT_EQ(offered({"sub"}), " submit ");
  EXPECT_EQ(offered({"--home", "X", "sub"}), " submit ");
  EXPECT_EQ(offered({"--home", "=", "X", "sub"}), " submit ");
  EXPECT_EQ(offered({"-q", "sub"}), " submit ");
  EXPECT_EQ(offered({"-o", "json", "ns", "mem"}), " member ");
  EXPECT_NE(offered({"--home", "X", "submit", "--"}).find(" --cpus "), std::string::npos);
  EXPECT_NE(offered({"submit", "--name", "ps", "--"}).find(" --cpus "), std::string::npos);
}

TEST(Completion, FixedChoicesAreOffered) {
  EXPECT_EQ(offered({"ps", "-o", "js"}), " json jsonl ");
  EXPECT_EQ(offered({"--output", "=", "ya"}), " yaml ");
  EXPECT_EQ(offered({"ps", "--state", "r"}), " running ");
  EXPECT_EQ(offered({"ps", "-s", "can"}), " cancelled ");
  EXPECT_EQ(offered({"ps", "--outcome", "wait"}), "  ");
  EXPECT_EQ(offered({"submit", "--isolation", "s"}), " sandbox ");
  EXPECT_EQ(offered({"ns", "member", "vision", "ada", "--role", ""}), " viewer member admin ");
  EXPECT_EQ(offered({"completion", "z"}), " zsh ");
  EXPECT_EQ(offered({"submit", "--name", "su"}), "  ");
  EXPECT_NE(run_offline({"completion", "fish"}).out.find("-l isolation -x -a '"),
            std::string::npos);
  EXPECT_NE(run_offline({"completion", "zsh"}).out.find(":STATE:(waiting "), std::string::npos);
}

TEST(Completion, WhereAFileIsMeantBashIsLeftToOfferFiles) {
  EXPECT_EQ(offered({"cp", ""}), "  ");
  EXPECT_EQ(offered({"submit", ""}), "  ");
  EXPECT_EQ(offered({"submit", "--cpus", "2", ""}), "  ");
  EXPECT_EQ(offered({"restore", ""}), "  ");
  EXPECT_NE(offered({"cp", "--"}).find(" --home "), std::string::npos);
  EXPECT_NE(offered({"ps", ""}).find(" --watch "), std::string::npos);
  EXPECT_NE(offered({"ns", ""}).find(" member "), std::string::npos);
}

TEST(Completion, JobsAreThoseOfTheServerThatIsMeant) {
  EXPECT_EQ(offered({"--home", "X", "logs", "server"}), " server=--home ");
}

TEST(Completion, HiddenFlagsAreNotOffered) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = run_offline({"completion", shell}).out;
    EXPECT_EQ(script.find("stdin-file"), std::string::npos) << shell;
    EXPECT_EQ(script.find("notify-webhook"), std::string::npos) << shell;
  }
}

}  // namespace
}  // namespace atl::cli
