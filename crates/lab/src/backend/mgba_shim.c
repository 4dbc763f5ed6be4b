/* A flat face over libmgba for `mgba.rs`: libmgba's structs change shape with its build flags, so only the
 * compiler that reads its headers may touch them. No state but what the caller holds. */

#include <mgba/flags.h>

#include <mgba/core/config.h>
#include <mgba/core/core.h>
#include <mgba/core/log.h>
#include <mgba/core/version.h>
#include <mgba/gb/core.h>
#include <mgba/internal/gb/gb.h>
#include <mgba/internal/gb/io.h>
#include <mgba/internal/sm83/sm83.h>
#include <mgba-util/vfs.h>

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 160, HEIGHT = 144, BUFFER_WIDTH = 256, BUFFER_HEIGHT = 224 };

struct gbxcule_mgba {
	struct mCore* core;
	struct mTimingEvent alarm;
	color_t pixels[BUFFER_WIDTH * BUFFER_HEIGHT];
};

struct gbxcule_mgba_state {
	uint8_t a, f, b, c, d, e, h, l;
	uint16_t sp, pc;
	int64_t tcycles;
};

static void be_silent(struct mLogger* logger, int category, enum mLogLevel level, const char* format, va_list args) {
	(void) logger;
	(void) category;
	(void) level;
	(void) format;
	(void) args;
}

static struct mLogger silent = { .log = be_silent };

const char* gbxcule_mgba_version(void) {
	return projectVersion;
}

void gbxcule_mgba_close(struct gbxcule_mgba* self) {
	if (self->core) {
		mCoreConfigDeinit(&self->core->config);
		self->core->deinit(self->core);
	}
	free(self);
}

/* Null when libmgba refuses the ROM. The bytes are copied. */
struct gbxcule_mgba* gbxcule_mgba_open(const uint8_t* rom, size_t rom_bytes) {
	mLogSetDefaultLogger(&silent);
	struct gbxcule_mgba* self = calloc(1, sizeof(*self));
	if (!self) {
		return NULL;
	}
	struct mCore* core = GBCoreCreate();
	if (!core || !core->init(core)) {
		free(self);
		return NULL;
	}
	self->core = core;
	mCoreInitConfig(core, NULL);
	mCoreConfigSetValue(&core->config, "gb.model", "DMG");
	mCoreConfigSetIntValue(&core->config, "gb.pal[0]", 0xFFFFFF);
	mCoreConfigSetIntValue(&core->config, "gb.pal[1]", 0xAAAAAA);
	mCoreConfigSetIntValue(&core->config, "gb.pal[2]", 0x555555);
	mCoreConfigSetIntValue(&core->config, "gb.pal[3]", 0x000000);
	core->loadConfig(core, &core->config);
	core->setVideoBuffer(core, self->pixels, BUFFER_WIDTH);
	struct VFile* file = VFileMemChunk(rom, rom_bytes);
	struct VFile* save = VFileMemChunk(NULL, 0);
	if (!file || !save || !core->loadROM(core, file) || !core->loadSave(core, save)) {
		gbxcule_mgba_close(self);
		return NULL;
	}
	return self;
}

/* mGBA counts in half T-cycles. */
static int32_t from_tcycles(int32_t tcycles) {
	return tcycles * 2;
}

/* Goes off with every change of the PPU's mode, and ends a HALT's sleep for a moment when that is the end of a frame:
 * mGBA would sleep as far as the next interrupt. */
static void sound_alarm(struct mTiming* timing, void* context, uint32_t cycles_late) {
	struct gbxcule_mgba* self = context;
	struct GB* gb = self->core->board;
	(void) cycles_late;
	gb->earlyExit = gb->video.ly == 0 && gb->video.mode == 2;
	int32_t until = from_tcycles(GB_VIDEO_HORIZONTAL_LENGTH);
	if (mTimingIsScheduled(timing, &gb->video.modeEvent)) {
		until = mTimingUntil(timing, &gb->video.modeEvent);
	}
	mTimingSchedule(timing, &self->alarm, until);
}

static void postpone(struct GB* gb, struct mTimingEvent* event, int32_t tcycles) {
	int32_t until = mTimingUntil(&gb->timing, event);
	mTimingDeschedule(&gb->timing, event);
	mTimingSchedule(&gb->timing, event, until + from_tcycles(tcycles));
}

/* Back to PC=0x0100, with the divider postponed by so many T-cycles. */
void gbxcule_mgba_reset(struct gbxcule_mgba* self, int32_t divider_tcycles) {
	self->core->reset(self->core);
	struct GB* gb = self->core->board;
	postpone(gb, &gb->timer.event, divider_tcycles);
	self->alarm = (struct mTimingEvent) {
		.context = self,
		.callback = sound_alarm,
		.name = "gbxcule frame end",
		.priority = UINT32_MAX,
	};
	mTimingSchedule(&gb->timing, &self->alarm, mTimingUntil(&gb->timing, &gb->video.modeEvent));
}

static bool lcd_is_on(const struct GB* gb) {
	return GBRegisterLCDCIsEnable(gb->memory.io[GB_REG_LCDC]);
}

/* A halted CPU's own cycles already point at the next event; the one that was let happen is seen by the M-cycle that
 * begins after it. */
static int64_t tcycles(const struct GB* gb) {
	if (gb->cpu->halted) {
		return (gb->timing.globalCycles / 8 + 1) * 4;
	}
	return mTimingGlobalTime(&gb->timing) / 2;
}

/* Run to the first instruction boundary in mode 2 of line 0 after a VBlank, or 70,224 T-cycles after the LCD was
 * switched off: one frame of the swarm. */
void gbxcule_mgba_run_frame(struct gbxcule_mgba* self) {
	const struct GB* gb = self->core->board;
	struct SM83Core* cpu = self->core->cpu;
	bool was_on = lcd_is_on(gb);
	bool saw_vblank = false;
	int64_t dark_since = tcycles(gb);
	for (;;) {
		if (cpu->halted) {
			cpu->irqh.processEvents(cpu);
		} else {
			do {
				SM83Tick(cpu);
			} while (cpu->executionState != SM83_CORE_FETCH && !cpu->halted);
		}
		bool on = lcd_is_on(gb);
		if (was_on && !on) {
			/* The write was the last of its instruction's M-cycles; the swarm counts from the one before. */
			dark_since = tcycles(gb) - 8;
		}
		was_on = on;
		if (!on) {
			if (tcycles(gb) - dark_since >= GB_VIDEO_TOTAL_LENGTH) {
				return;
			}
		} else if (gb->video.ly >= GB_VIDEO_VERTICAL_PIXELS && gb->video.ly < GB_VIDEO_VERTICAL_TOTAL_PIXELS) {
			saw_vblank = true;
		} else if (gb->video.ly == 0 && gb->video.mode == 2 && saw_vblank) {
			return;
		}
	}
}

void gbxcule_mgba_set_keys(struct gbxcule_mgba* self, uint32_t keys) {
	self->core->setKeys(self->core, keys);
}

uint8_t gbxcule_mgba_read(struct gbxcule_mgba* self, uint16_t address) {
	return self->core->rawRead8(self->core, address, -1);
}

void gbxcule_mgba_state(const struct gbxcule_mgba* self, struct gbxcule_mgba_state* out) {
	const struct SM83Core* cpu = self->core->cpu;
	const struct GB* gb = self->core->board;
	out->a = cpu->a;
	out->f = cpu->f.packed;
	out->b = cpu->b;
	out->c = cpu->c;
	out->d = cpu->d;
	out->e = cpu->e;
	out->h = cpu->h;
	out->l = cpu->l;
	out->sp = cpu->sp;
	out->pc = cpu->pc;
	out->tcycles = tcycles(gb);
}

/* 160 x 144 bytes, the red channel of each pixel. */
void gbxcule_mgba_pixels(const struct gbxcule_mgba* self, uint8_t* out) {
	for (int y = 0; y < HEIGHT; ++y) {
		for (int x = 0; x < WIDTH; ++x) {
			out[y * WIDTH + x] = self->pixels[y * BUFFER_WIDTH + x] & 0xFF;
		}
	}
}
