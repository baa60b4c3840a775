#include "app/shared_options.h"

#include <charconv>

namespace stepscope::app {

CommandOption gpu_option(std::string& gpu) {
  return {.name = "--gpu",
          .value = "NAME|FILE",
          .help = "The GPU that ran it, where the trace does not say: a built-in description (h100-sxm, b200-sxm, mi300x, ...) or a YAML file.",
          .expected = "the name of a GPU or a YAML file that describes one",
          .example = "--gpu h100-sxm",
          .take = [&gpu](const std::string& text) {
            gpu = text;
            return !text.empty();
          }};
}

CommandOption threads_option(int& threads) {
  return {.name = "--threads",
          .value = "N",
          .help = "Threads to use (default: one per core).",
          .expected = "a whole number from 1 to 1024",
          .example = "--threads 4",
          .take = [&threads](const std::string& text) {
            int wanted = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wanted);
            if (error != std::errc{} || end != text.data() + text.size() || wanted < 1 || wanted > 1024) return false;
            threads = wanted;
            return true;
          }};
}

CommandOption quiet_option(bool& quiet) {
  return {.name = "--quiet", .letter = 'q', .help = "No progress on standard error; errors are still told.", .take = [&quiet](const std::string&) {
            quiet = true;
            return true;
          }};
}

TextOptions text_options(const Console& console, const std::string& output) {
  TextOptions options;
  if (output != "-") return options;
  options.colour = console.colour(ColourWish::automatic);
  options.ascii = console.output_is_terminal() && console.ascii();
  if (console.output_is_terminal()) options.columns = console.columns();
  return options;
}

}  // namespace stepscope::app
