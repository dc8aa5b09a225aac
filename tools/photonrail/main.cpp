// The photonrail command, with the controllers and collectives that come with the library.
#include "photonrail/command.hpp"

int main(int argc, char** argv) { return photonrail::command_main(argc, argv); }
