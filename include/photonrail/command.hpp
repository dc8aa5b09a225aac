// The whole photonrail command as a function, for a program with controllers and collectives of its own. It is in the
// library photonrail::command.
#pragma once

#include "photonrail/simulate.hpp"

namespace photonrail {

/// Does what the photonrail command does with these arguments: run, sweep, calibrate, report, compare, validate, list and
/// the others. Files and options may name every controller and collective of `known`. `argv` is main()'s.
/// Returns the exit status: 0: done; 1: a fault of the program, or results that `compare` finds to differ; 2: wrong input;
/// 3: a job that cannot finish, or points of a sweep that failed; 128 + n: a sweep that signal n stopped. Errors go to
/// standard error; what is not a std::exception passes.
/// Two threads must not call it at once: a sweep catches the signals that stop the process.
[[nodiscard]] int command_main(int argc, const char* const* argv, const Registries& known = {});

}  // namespace photonrail
