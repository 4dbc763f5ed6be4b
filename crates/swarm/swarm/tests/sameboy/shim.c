/* SameBoy as `main.rs` drives it, through its public interface: shim ROM STATE VBLANKS SAVE FRAMES OUT
 *
 * Loads STATE, lets so many VBlanks pass and writes a state to SAVE, then runs FRAMES frames. Where line 0 begins after
 * each, work RAM goes to OUT, at BEFORE instruction boundaries before that and AFTER behind it too: BESS does not say
 * where in a line the PPU is, so another emulator's frame may begin some instructions earlier or later. */

#include <Core/gb.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WRAM_BYTES = 0x2000, BEFORE = 3, AFTER = 7, LY = 0xFF44, STAT = 0xFF41, FRAME_TICKS = 2 * 70224 };

static uint32_t pixels[256 * 224];

static void say(GB_gameboy_t *gb, const char *text, GB_log_attributes_t attributes) {
	(void) gb;
	(void) attributes;
	fputs(text, stderr);
}

static uint32_t gray(GB_gameboy_t *gb, uint8_t red, uint8_t green, uint8_t blue) {
	(void) gb;
	(void) green;
	(void) blue;
	return red;
}

static uint8_t *whole(const char *path, size_t *bytes) {
	FILE *file = fopen(path, "rb");
	if (!file) {
		perror(path);
		exit(2);
	}
	fseek(file, 0, SEEK_END);
	*bytes = (size_t) ftell(file);
	rewind(file);
	uint8_t *text = malloc(*bytes);
	if (!text || fread(text, 1, *bytes, file) != *bytes) {
		exit(2);
	}
	fclose(file);
	return text;
}

/* To the instruction boundary behind the begin of line 0, or two frames on while the screen is off. */
static void run_frame(GB_gameboy_t *gb, const uint8_t *wram, uint8_t ring[][WRAM_BYTES], unsigned *at) {
	bool saw_vblank = false, is_near = false;
	for (unsigned long ticks = 0; ticks < 4 * FRAME_TICKS;) {
		if (is_near) {
			memcpy(ring[(*at)++ % BEFORE], wram, WRAM_BYTES);
		}
		ticks += GB_run(gb);
		bool in_vblank = (GB_safe_read_memory(gb, STAT) & 3) == 1;
		bool is_zero = GB_safe_read_memory(gb, LY) == 0;
		if (saw_vblank && !in_vblank && is_zero) {
			return;
		}
		saw_vblank |= in_vblank;
		/* All but the first dots of line 153 read as line 0. */
		is_near = saw_vblank && is_zero;
	}
}

int main(int count, char **arguments) {
	if (count != 7) {
		return 2;
	}
	size_t bytes;
	GB_gameboy_t *gb = GB_init(GB_alloc(), GB_MODEL_DMG_B);
	GB_set_log_callback(gb, say);
	GB_set_pixels_output(gb, pixels);
	GB_set_rgb_encode_callback(gb, gray);
	GB_set_rtc_mode(gb, GB_RTC_MODE_ACCURATE);
	uint8_t *rom = whole(arguments[1], &bytes);
	GB_load_rom_from_buffer(gb, rom, bytes);
	uint8_t *state = whole(arguments[2], &bytes);
	if (GB_load_state_from_buffer(gb, state, bytes)) {
		return 3;
	}
	for (int vblank = 0; vblank < atoi(arguments[3]); vblank++) {
		GB_run_frame(gb);
	}
	FILE *save = fopen(arguments[4], "wb");
	bytes = GB_get_save_state_size(gb);
	uint8_t *saved = malloc(bytes);
	GB_save_state_to_buffer(gb, saved);
	fwrite(saved, 1, bytes, save);
	fclose(save);

	const uint8_t *wram = GB_get_direct_access(gb, GB_DIRECT_ACCESS_RAM, NULL, NULL);
	uint8_t ring[BEFORE][WRAM_BYTES] = { { 0 } };
	unsigned at = 0;
	FILE *out = fopen(arguments[6], "wb");
	for (int frame = 0; frame < atoi(arguments[5]); frame++) {
		run_frame(gb, wram, ring, &at);
		for (unsigned back = BEFORE; back > 0; back--) {
			fwrite(ring[(at + BEFORE - back) % BEFORE], 1, WRAM_BYTES, out);
		}
		fwrite(wram, 1, WRAM_BYTES, out);
		for (int after = 0; after < AFTER; after++) {
			GB_run(gb);
			fwrite(wram, 1, WRAM_BYTES, out);
		}
	}
	return fclose(out);
}
