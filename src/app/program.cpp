#include "app/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "app/console.h"
#include "app/exit_code.h"
#include "app/nearest.h"
#include "app/verb.h"
#include "verbs/stepscope.h"

namespace stepscope::app {

namespace {

std::vector<const Verb*> verbs_in_place() {
  std::vector<const Verb*> verbs(all_verbs().begin(), all_verbs().end());
  std::stable_sort(verbs.begin(), verbs.end(), [](const Verb* a, const Verb* b) { return a->place < b->place; });
  return verbs;
}

const Verb* find_verb(std::string_view name) {
  for (const Verb* verb : all_verbs()) {
    if (verb->name == name) return verb;
  }
  return nullptr;
}

std::string front_page() {
  std::string page =
      "stepscope: where the time of a training step goes, and what to do about it\n"
      "\n"
      "Usage: stepscope VERB [options]\n"
      "\n"
      "Verbs:\n";
  for (const Verb* verb : verbs_in_place()) page += fmt::format("  {:<12}  {}\n", verb->name, wrap(verb->help, 100, 16));
  page +=
      "  help          The page of a verb: stepscope help analyze\n"
      "\n"
      "Examples:\n";
  for (const Verb* verb : verbs_in_place()) {
    const CommandLine line = verb->describe();
    if (!line.examples.empty()) page += fmt::format("  {}\n      {}\n", line.examples.front().command, wrap(line.examples.front().meaning, 100, 6));
  }
  page +=
      "\n"
      "stepscope VERB --help shows everything a verb takes; stepscope --version the version.\n"
      "Exit codes: 0 done; 1 the answer is \"no\"; 2 bad usage or unreadable input; 3 nothing to analyse.\n";
  return page;
}

int print(const std::string& text, Console& console) {
  if (const auto written = console.write(text); !written) {
    console.say(written.error().message());
    return exit_unusable;
  }
  return exit_done;
}

int unknown_verb(const std::string& word, Console& console) {
  std::string message;
  std::error_code ignored;
  if (word == "-" || std::filesystem::exists(word, ignored)) {
    message = fmt::format("stepscope: a verb comes before '{}'; for example: stepscope analyze {}", word, word);
  } else {
    message = fmt::format("stepscope: unknown {} '{}'", word.starts_with('-') ? "option" : "verb", word);
    std::vector<std::string_view> names{"help", "--help", "--version"};
    for (const Verb* verb : all_verbs()) names.push_back(verb->name);
    if (const std::string_view near = nearest(word, names); !near.empty()) message += fmt::format("; did you mean {}?", near);
  }
  console.say(message + "\n  all verbs: stepscope --help");
  return exit_unusable;
}

}  // namespace

int run_program(std::span<const std::string> words, Console& console) {
  if (words.empty()) {
    console.say(front_page());
    return exit_unusable;
  }
  const std::string& first = words.front();
  if (first == "--version" || first == "version") return print(fmt::format("stepscope {}\n", version()), console);
  if (first == "--help" || first == "-h" || (first == "help" && words.size() == 1)) return print(front_page(), console);
  if (first == "help") {
    const Verb* verb = find_verb(words[1]);
    return verb != nullptr ? print(help_page(verb->describe()), console) : unknown_verb(words[1], console);
  }
  const Verb* verb = find_verb(first);
  return verb != nullptr ? verb->run(words.subspan(1), console) : unknown_verb(first, console);
}

}  // namespace stepscope::app
