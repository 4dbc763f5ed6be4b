// wrong result
static const char loader[8192] __attribute__((section(".interp"), used)) = "/etc/passwd";
