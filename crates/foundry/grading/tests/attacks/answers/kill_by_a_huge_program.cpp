// wrong result
char more_than_it_may_have[1536 << 20];
