/* SameBoy for speed.py: run_sameboy ROM [drawn]. */

#include <Core/gb.h>

#include <stdbool.h>
#include <string.h>

#include "pairs.h"

static uint32_t pixels[256 * 224];

static uint32_t rgb(GB_gameboy_t *gb, uint8_t red, uint8_t green, uint8_t blue) {
	(void) gb;
	return red | green << 8 | (uint32_t) blue << 16;
}

/* A boot ROM that does no more than hand over: it switches the LCD on and tells a program its model. */
static void load_boot_rom(GB_gameboy_t *gb, bool color) {
	static unsigned char boot[0x900] = {
		0x31, 0xFE, 0xFF, /* ld sp, FFFE */
		0x3E, 0xFC, 0xE0, 0x47, /* BGP */
		0x3E, 0x80, 0xE0, 0x4C, /* KEY0 */
		0x3E, 0x91, 0xE0, 0x40, /* LCDC */
		0xC3, 0xFC, 0x00, /* jp 00FC */
	};
	const unsigned char end[] = { 0x3E, color ? 0x11 : 0x01, 0xE0, 0x50 };
	memcpy(boot + 0xFC, end, sizeof end);
	GB_load_boot_rom_from_buffer(gb, boot, color ? 0x900 : 0x100);
}

static void run(void *emulator, long frames, long buttons) {
	GB_gameboy_t *gb = emulator;
	GB_set_key_mask(gb, (GB_key_mask_t) buttons);
	while (frames-- > 0) {
		GB_run_frame(gb);
	}
}

int main(int count, char **arguments) {
	FILE *rom = count > 1 ? fopen(arguments[1], "rb") : NULL;
	if (!rom || fseek(rom, 0x143, SEEK_SET)) {
		return 2;
	}
	bool color = fgetc(rom) & 0x80;
	fclose(rom);
	GB_gameboy_t *gb = calloc(1, GB_allocation_size());
	GB_init(gb, color ? GB_MODEL_CGB_E : GB_MODEL_DMG_B);
	GB_set_rgb_encode_callback(gb, rgb);
	GB_set_pixels_output(gb, pixels);
	GB_set_emulate_joypad_bouncing(gb, false);
	if (GB_load_rom(gb, arguments[1])) {
		return 2;
	}
	load_boot_rom(gb, color);
	GB_reset(gb);
	GB_set_turbo_mode(gb, true, true);
	GB_set_rendering_disabled(gb, count < 3 || strcmp(arguments[2], "drawn"));
	return answer_lines(gb, run);
}
