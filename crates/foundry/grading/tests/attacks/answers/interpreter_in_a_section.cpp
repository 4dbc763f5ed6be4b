// wrong result
__asm__(".section .interp, \"a\"\n.ascii \"a path without an end\"\n.previous");
