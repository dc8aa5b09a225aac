// A shared library without an entry point.
int photonrail_no_entry() { return 0; }
