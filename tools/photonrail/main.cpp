// The photonrail command, with the controllers and collectives that come with the library.
#include "photonrail/command.hpp"
#include "photonrail/config.hpp"

#include <exception>
#include <iostream>

// The tables of controllers and collectives are made before command_main() begins, and may find no memory.
int main(int argc, char** argv) try { return photonrail::command_main(argc, argv); } catch (const std::exception& error) {
  std::cerr << "photonrail: error: " << photonrail::file_words(error) << '\n';
  return 1;
}
