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

enum { CHANGE_MCYCLES = 0x8001 };
enum { WIDTH = 160, HEIGHT = 144, BUFFER_WIDTH = 256, BUFFER_HEIGHT = 224 };

struct gbxcule_mgba {
	struct mCore* core;
	struct mTimingEvent alarm;
	struct mTimingEvent resume;
	/* The CPU waits for its new clock. */
	bool changes_speed;
	/* The picture's way through a frame, which a sleeping CPU sleeps through: it has begun in a VBlank, which is not
	 * its own, and has come to its VBlank. */
	bool begins_in_vblank;
	bool saw_vblank;
	color_t pixels[BUFFER_WIDTH * BUFFER_HEIGHT];
};

/* Where a machine begins. */
struct gbxcule_mgba_start {
	/* The counter whose upper half is DIV. */
	uint16_t divider;
	/* T-cycles by which the picture is postponed. */
	int32_t picture_tcycles;
	/* Register B, which a Color's boot ROM leaves behind. */
	uint8_t b;
	/* A program for the original runs on a Color: in these colours, BGP, OBP0, OBP1. */
	bool compatible;
	uint16_t palettes[12];
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
struct gbxcule_mgba* gbxcule_mgba_open(const uint8_t* rom, size_t rom_bytes, const char* model) {
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
	/* The header decides which of these counts. */
	mCoreConfigSetValue(&core->config, "gb.model", model);
	mCoreConfigSetValue(&core->config, "sgb.model", model);
	mCoreConfigSetValue(&core->config, "cgb.model", model);
	mCoreConfigSetValue(&core->config, "cgb.hybridModel", model);
	mCoreConfigSetValue(&core->config, "cgb.sgbModel", model);
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

static bool is_in_vblank(const struct GB* gb) {
	return gb->video.ly >= GB_VIDEO_VERTICAL_PIXELS && gb->video.ly < GB_VIDEO_VERTICAL_TOTAL_PIXELS;
}

static void look_at_picture(struct gbxcule_mgba* self) {
	const struct GB* gb = self->core->board;
	if (!is_in_vblank(gb)) {
		self->begins_in_vblank = false;
	} else if (!self->begins_in_vblank) {
		self->saw_vblank = true;
	}
}

/* Goes off with every change of the PPU's mode, and ends a HALT's sleep for a moment when that is the end of a frame:
 * mGBA would sleep as far as the next interrupt. */
static void sound_alarm(struct mTiming* timing, void* context, uint32_t cycles_late) {
	struct gbxcule_mgba* self = context;
	struct GB* gb = self->core->board;
	(void) cycles_late;
	gb->earlyExit = gb->video.ly == 0 && gb->video.mode == 2;
	if (GBRegisterLCDCIsEnable(gb->memory.io[GB_REG_LCDC])) {
		look_at_picture(self);
	}
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

/* Back to PC=0x0100. */
void gbxcule_mgba_reset(struct gbxcule_mgba* self, const struct gbxcule_mgba_start* start) {
	self->core->reset(self->core);
	self->changes_speed = false;
	struct GB* gb = self->core->board;
	/* The counter is in units of 16 T-cycles. */
	gb->timer.internalDiv = start->divider >> 4;
	gb->memory.io[GB_REG_DIV] = start->divider >> 8;
	postpone(gb, &gb->timer.event, -(start->divider & 15));
	postpone(gb, &gb->video.modeEvent, start->picture_tcycles);
	gb->cpu->b = start->b;
	/* mGBA fills a Color's with a pattern. */
	memset(gb->memory.wram, 0, GB_SIZE_WORKING_RAM);
	if (start->compatible) {
		memcpy(gb->video.dmgPalette, start->palettes, sizeof(start->palettes));
		GBIOWrite(gb, GB_REG_BGP, 0xFC);
		GBIOWrite(gb, GB_REG_OBP0, 0xFF);
		GBIOWrite(gb, GB_REG_OBP1, 0xFF);
		/* A Color's boot ROM takes the logo off the map, a DMG's leaves it there. */
		memset(&gb->video.vram[0x1900], 0, 0x40);
	}
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

static void end_change(struct mTiming* timing, void* context, uint32_t cycles_late) {
	struct gbxcule_mgba* self = context;
	struct GB* gb = self->core->board;
	(void) timing;
	(void) cycles_late;
	self->changes_speed = false;
	gb->cpu->halted = false;
}

/* mGBA changes the speed within STOP. A Color's CPU stands still for CHANGE_MCYCLES of the new length (gambatte
 * `speedchange`), and DIV begins anew. */
static void change_speed(struct gbxcule_mgba* self) {
	struct GB* gb = self->core->board;
	GBTimerDivReset(&gb->timer);
	self->changes_speed = true;
	self->resume = (struct mTimingEvent) {
		.context = self,
		.callback = end_change,
		.name = "gbxcule speed",
		.priority = UINT32_MAX,
	};
	int32_t wait = CHANGE_MCYCLES * (gb->doubleSpeed ? 2 : 4);
	mTimingSchedule(&gb->timing, &self->resume, from_tcycles(wait));
}

/* Run to the first instruction boundary in mode 2 of line 0 after a VBlank, or 70,224 T-cycles after the LCD was
 * switched off: one frame of the swarm. */
void gbxcule_mgba_run_frame(struct gbxcule_mgba* self) {
	const struct GB* gb = self->core->board;
	struct SM83Core* cpu = self->core->cpu;
	bool was_double = gb->doubleSpeed;
	bool was_on = lcd_is_on(gb);
	self->begins_in_vblank = is_in_vblank(gb);
	self->saw_vblank = false;
	int64_t dark_since = tcycles(gb);
	for (;;) {
		/* Interrupts do not shorten the wait. */
		cpu->halted |= self->changes_speed;
		if (cpu->halted) {
			cpu->irqh.processEvents(cpu);
		} else {
			do {
				SM83Tick(cpu);
			} while (cpu->executionState != SM83_CORE_FETCH && !cpu->halted);
			if (gb->doubleSpeed != was_double) {
				was_double = gb->doubleSpeed;
				change_speed(self);
			}
		}
		bool on = lcd_is_on(gb);
		if (was_on && !on) {
			/* The write was the last of its instruction's M-cycles; the swarm counts from the one before. */
			dark_since = tcycles(gb) - 8;
		}
		was_on = on;
		if (!on) {
			self->saw_vblank = false;
			if (tcycles(gb) - dark_since >= GB_VIDEO_TOTAL_LENGTH) {
				return;
			}
		} else {
			look_at_picture(self);
			if (gb->video.ly == 0 && gb->video.mode == 2 && self->saw_vblank) {
				return;
			}
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

/* 160 x 144 colours, RGB555 with red in the lowest bits. */
void gbxcule_mgba_pixels(const struct gbxcule_mgba* self, uint16_t* out) {
	for (int y = 0; y < HEIGHT; ++y) {
		for (int x = 0; x < WIDTH; ++x) {
			color_t color = self->pixels[y * BUFFER_WIDTH + x];
			out[y * WIDTH + x] = (color >> 3 & 31) | (color >> 11 & 31) << 5 | (color >> 19 & 31) << 10;
		}
	}
}
