// does not compile
int broken(  // No space left on device
