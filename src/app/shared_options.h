// Options that several verbs take alike.
#pragma once

#include <string>

#include "app/command_line.h"
#include "app/console.h"
#include "report/report.h"

namespace stepscope::app {

CommandOption gpu_option(std::string& gpu);  // --gpu NAME|FILE
CommandOption threads_option(int& threads);  // --threads N
CommandOption quiet_option(bool& quiet);     // --quiet, -q

// How a text is laid out that goes to this output ("-" = the console).
TextOptions text_options(const Console& console, const std::string& output);

}  // namespace stepscope::app
