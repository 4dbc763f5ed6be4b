/* SameBoy as `main.rs` drives it: shim ROM BOOT_ROM MODEL LINE DOT SCHEDULE
 *
 * SCHEDULE begins with DIV's counter, AF, BC, DE, HL and SP where the boot ROM hands over, all in hexadecimal. Then it
 * has a line for each frame: the buttons held in it, and its end in T-cycles since then.
 * For each frame digests go to standard output, of work RAM, high RAM, video RAM, OAM and the picture.
 *
 * SameBoy's own boot ROM takes another time than Nintendo's and leaves other registers, so once it is done the chips run
 * on alone to LINE and DOT, DIV and registers are set, and memory is cleared: this is why internals are used. */

#define GB_INTERNAL
#include <Core/gb.h>
#include <Core/random.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 160, HEIGHT = 144, PIXELS = WIDTH * HEIGHT, BOOT_STEPS = 20000000 };

static uint32_t pixels[256 * 224], shown[PIXELS];

static uint32_t rgb(GB_gameboy_t *gb, uint8_t red, uint8_t green, uint8_t blue) {
	(void) gb;
	return red | green << 8 | (uint32_t) blue << 16;
}

static void vblank(GB_gameboy_t *gb, GB_vblank_type_t type) {
	(void) gb;
	if (type != GB_VBLANK_TYPE_SKIPPED_FRAME) {
		memcpy(shown, pixels, sizeof shown);
	}
}

static void say_nothing(GB_gameboy_t *gb, const char *text, GB_log_attributes_t attributes) {
	(void) gb;
	(void) text;
	(void) attributes;
}

/* FNV-1a. */
static unsigned long long digest(const uint8_t *bytes, size_t count) {
	unsigned long long hash = 0xCBF29CE484222325;
	for (size_t at = 0; at < count; at++) {
		hash = (hash ^ bytes[at]) * 0x100000001B3;
	}
	return hash;
}

/* The picture in the machine's format: four shades a byte, or two bytes a pixel. */
static unsigned long long picture(bool color) {
	static uint8_t bytes[PIXELS * 2];
	for (int at = 0; at < PIXELS; at++) {
		uint32_t pixel = shown[at];
		if (color) {
			uint32_t packed = (pixel >> 3 & 31) | (pixel >> 11 & 31) << 5 | (pixel >> 19 & 31) << 10;
			bytes[at * 2] = (uint8_t) packed;
			bytes[at * 2 + 1] = (uint8_t) (packed >> 8);
		} else {
			uint8_t shift = (uint8_t) (6 - at % 4 * 2);
			uint8_t others = at % 4 ? bytes[at / 4] : 0;
			bytes[at / 4] = (uint8_t) (others | (3 - (pixel & 255) / 85) << shift);
		}
	}
	return digest(bytes, color ? PIXELS * 2 : PIXELS / 4);
}

/* Another row of buttons shows in P1 at once, as here; SameBoy lets it rise for some M-cycles. */
static void show_buttons(GB_gameboy_t *gb) {
	if (gb->joyp_switching_delay) {
		gb->joyp_switching_delay = 0;
		gb->io_registers[GB_IO_JOYP] = (gb->joyp_switch_value & 0xF0) | (gb->io_registers[GB_IO_JOYP] & 0x0F);
		GB_update_joyp(gb);
	}
}

static void align(GB_gameboy_t *gb, int line, int dot) {
	while (gb->io_registers[GB_IO_LY] == line) {
		GB_advance_cycles(gb, 1);
	}
	while (gb->io_registers[GB_IO_LY] != line) {
		GB_advance_cycles(gb, 1);
	}
	for (int done = 0; done < dot; done++) {
		GB_advance_cycles(gb, 1);
	}
	/* No boot ROM sets these: Pan Docs "Power-Up Sequence" calls them uninitialised. */
	GB_write_memory(gb, 0xFF00 + GB_IO_OBP0, 0xFF);
	GB_write_memory(gb, 0xFF00 + GB_IO_OBP1, 0xFF);
	if (GB_is_cgb(gb)) { /* As Nintendo's boot ROM leaves them. */
		for (int at = 0; at < 64; at++) {
			GB_write_memory(gb, 0xFF6A, (uint8_t) at);
			GB_write_memory(gb, 0xFF6B, at & 1 ? 0x7F : 0xFF);
		}
		GB_write_memory(gb, 0xFF6A, 0x90);
		if (gb->cgb_mode) {
			for (int at = 0; at < 64; at++) {
				GB_write_memory(gb, 0xFF68, (uint8_t) at);
				GB_write_memory(gb, 0xFF69, at & 1 ? 0x7F : 0xFF);
			}
			GB_write_memory(gb, 0xFF00 + GB_IO_JOYP, 0);
			show_buttons(gb);
		}
		GB_write_memory(gb, 0xFF68, 0x88);
	}
	gb->io_registers[GB_IO_IF] = 0xE1;
	memset(gb->ram, 0, gb->ram_size);
	memset(gb->hram, 0, sizeof gb->hram);
	if (gb->mbc_ram) {
		memset(gb->mbc_ram, 0, gb->mbc_ram_size);
	}
}

int main(int count, char **arguments) {
	if (count != 7) {
		return 2;
	}
	bool color = !strcmp(arguments[3], "cgb");
	GB_random_set_enabled(false);
	GB_gameboy_t *gb = calloc(1, GB_allocation_size());
	GB_init(gb, color ? GB_MODEL_CGB_E : GB_MODEL_DMG_B);
	GB_set_log_callback(gb, say_nothing);
	GB_set_rgb_encode_callback(gb, rgb);
	GB_set_pixels_output(gb, pixels);
	GB_set_vblank_callback(gb, vblank);
	GB_set_color_correction_mode(gb, GB_COLOR_CORRECTION_DISABLED);
	GB_set_palette(gb, &GB_PALETTE_GREY);
	GB_set_rtc_mode(gb, GB_RTC_MODE_ACCURATE);
	GB_set_emulate_joypad_bouncing(gb, false);
	GB_set_open_bus_decay_time(gb, 1); /* Nothing answers with FF, as mooneye's `mbc1/ram_64kb` wants. */
	if (GB_load_rom(gb, arguments[1]) || GB_load_boot_rom(gb, arguments[2])) {
		return 2;
	}
	GB_reset(gb);
	GB_set_turbo_mode(gb, true, true);
	for (int step = 0; !gb->boot_rom_finished && step < BOOT_STEPS; step++) {
		GB_run(gb);
	}
	align(gb, atoi(arguments[4]), atoi(arguments[5]));

	FILE *schedule = fopen(arguments[6], "r");
	if (!schedule) {
		perror(arguments[6]);
		return 2;
	}
	if (fscanf(schedule, "%hx %hx %hx %hx %hx %hx", &gb->div_counter, &gb->af, &gb->bc, &gb->de, &gb->hl, &gb->sp) != 6) {
		return 2;
	}
	int buttons;
	unsigned long long tcycles, ticks = 0;
	while (fscanf(schedule, "%d %llu", &buttons, &tcycles) == 2) {
		GB_set_key_mask(gb, (GB_key_mask_t) buttons);
		while (ticks < tcycles * 2) {
			bool was_fast = gb->cgb_double_speed;
			ticks += GB_run(gb);
			GB_display_sync(gb); /* Else it may take a mode 3 of 300 dots for granted and tell it in STAT. */
			show_buttons(gb);
			if (!was_fast && gb->cgb_double_speed && gb->ime) {
				/* With IME set, SameBoy begins DIV anew an M-cycle early: 15 of gambatte's tests, measured on a Color, fail. */
				gb->div_counter -= 4;
			}
		}
		printf("%llx %llx %llx %llx %llx\n", digest(gb->ram, gb->ram_size), digest(gb->hram, 127),
			digest(gb->vram, gb->vram_size), digest(gb->oam, 160), picture(color));
	}
	return 0;
}
