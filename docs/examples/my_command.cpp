// The photonrail command with a policy of one's own in it: what `my_command list controllers` shows, a scenario can name.
#include "oldest_first.hpp"

#include <photonrail/command.hpp>

int main(int argc, char** argv) {
  pr::Registries known;
  known.controllers.add(oldest_first());
  return pr::command_main(argc, argv, known);
}
