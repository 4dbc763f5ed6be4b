/* libmgba for speed.py: run_mgba ROM [drawn]. Without a buffer of pixels it draws nothing. */

#include <mgba/flags.h>

#include <mgba/core/config.h>
#include <mgba/core/core.h>
#include <mgba/core/log.h>
#include <mgba/gb/core.h>
#include <mgba-util/vfs.h>

#include <fcntl.h>
#include <string.h>

#include "pairs.h"

static color_t pixels[256 * 224];

static void be_silent(struct mLogger *logger, int category, enum mLogLevel level, const char *format, va_list args) {
	(void) logger;
	(void) category;
	(void) level;
	(void) format;
	(void) args;
}

static void run(void *emulator, long frames, long buttons) {
	struct mCore *core = emulator;
	/* The order of libmgba's keys is A, B, Select, Start, and then the directions. */
	core->setKeys(core, (uint32_t) ((buttons >> 4 & 15) | (buttons & 15) << 4));
	while (frames-- > 0) {
		core->runFrame(core);
	}
}

int main(int count, char **arguments) {
	struct mLogger silent = { .log = be_silent };
	mLogSetDefaultLogger(&silent);
	struct mCore *core = GBCoreCreate();
	struct VFile *rom = count > 1 ? VFileOpen(arguments[1], O_RDONLY) : NULL;
	if (!core || !core->init(core) || !rom) {
		return 2;
	}
	mCoreInitConfig(core, NULL);
	if (count > 2 && !strcmp(arguments[2], "drawn")) {
		core->setVideoBuffer(core, pixels, 256);
	}
	if (!core->loadROM(core, rom)) {
		return 2;
	}
	core->reset(core);
	return answer_lines(core, run);
}
