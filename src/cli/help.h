// Help pages: like CLI11's own, wrapped to the terminal and without its type words.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace atl::cli {

class Verbs;

class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(const Verbs& verbs) : verbs_(verbs) {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
  std::string make_usage(const CLI::App* app, std::string name) const override;
  std::string make_option(const CLI::Option* option, bool is_positional) const override;
  std::string make_subcommand(const CLI::App* sub) const override;

 private:
  const Verbs& verbs_;
};

// `left` in a column of its own, `right` wrapped beside it.
std::string two_columns(const std::string& left, const std::string& right, int left_width,
                        int width);

}  // namespace atl::cli
