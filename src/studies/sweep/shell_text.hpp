// Values on their way into a shell or a script of Slurm: each kind of value has one function that quotes or checks it,
// because a script is executed line by line and a stray line break would start a command.
#pragma once

#include <string>
#include <string_view>

namespace photonrail::sweep {

/// The text as one word of a POSIX shell, in single quotes.
[[nodiscard]] std::string shell_word(std::string_view text);

/// The path as an option of sbatch that expands "%j" and the like takes it literally.
[[nodiscard]] std::string slurm_path(std::string_view path);

// Each returns what is wrong with the value, or an empty text.

/// A partition, or several with commas between them: "batch,long".
[[nodiscard]] std::string partition_problem(std::string_view text);
/// A limit of time in one of the forms of sbatch: "90", "1:30:00", "2-12", "UNLIMITED".
[[nodiscard]] std::string time_limit_problem(std::string_view text);
/// A long option of sbatch: "--account=x".
[[nodiscard]] std::string sbatch_option_problem(std::string_view text);
/// An identifier of a job as sbatch prints it: digits.
[[nodiscard]] bool is_slurm_job(std::string_view text);

}  // namespace photonrail::sweep
