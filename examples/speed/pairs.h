/* The input and answers of the example `frames`: a line has pairs of frames and buttons; its answer is the seconds of
 * the processor that it took. */

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(void) {
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

/* Calls `run` for each pair of each line. */
static int answer_lines(void *emulator, void (*run)(void *emulator, long frames, long buttons)) {
	static char line[1 << 16];
	while (fgets(line, sizeof line, stdin)) {
		char *rest = line, *behind;
		double begun = seconds();
		for (;;) {
			long frames = strtol(rest, &behind, 10);
			if (behind == rest) {
				break;
			}
			run(emulator, frames, strtol(behind, &rest, 10));
		}
		printf("%.9f\n", seconds() - begun);
		fflush(stdout);
	}
	return 0;
}
