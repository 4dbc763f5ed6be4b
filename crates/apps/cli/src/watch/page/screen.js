// Pictures to the colours of a canvas: shades, 2 bits a pixel with the leftmost in the top bits, or the colours of a
// Color, RGB555 with red in the lowest bits.

export const WIDTH = 160;
export const HEIGHT = 144;

const PALETTES = {
  green: [0xe0f8d0, 0x88c070, 0x346856, 0x081820],
  grey: [0xf6f6f2, 0xa8a8a4, 0x565654, 0x0c0c0c],
  amber: [0xffe9b8, 0xe8a33d, 0x8a4b16, 0x1c0f08],
};

/** Four pixels of colour for each byte, as a canvas keeps them in memory: red first. */
let colours = new Uint32Array(1024);

/** Red, green and blue of five bits each to eight. */
const CURVES = {
  raw: (...parts) => parts.map((five) => (five << 3) | (five >> 2)),
  corrected: (red, green, blue) => {
    const sums = [26 * red + 4 * green + 2 * blue, 24 * green + 8 * blue, 6 * red + 4 * green + 22 * blue];
    return sums.map((sum) => Math.min(sum, 960) >> 2);
  },
};

/** For each curve, once it is needed, every colour as a canvas keeps it. */
const tables = {};

function word(red, green, blue) {
  const bytes = new Uint8Array([red, green, blue, 255]);
  return new Uint32Array(bytes.buffer)[0];
}

function tableOf(curve) {
  const rgb = CURVES[curve] ?? CURVES.raw;
  tables[curve] ??= Uint32Array.from({ length: 0x8000 }, (_, at) => word(...rgb(at & 31, (at >> 5) & 31, at >> 10)));
  return tables[curve];
}

export function choosePalette(name) {
  const words = (PALETTES[name] ?? PALETTES.green).map((rgb) => word(rgb >> 16, (rgb >> 8) & 255, rgb & 255));
  for (let byte = 0; byte < 256; byte++) {
    for (let pixel = 0; pixel < 4; pixel++) {
      colours[byte * 4 + pixel] = words[(byte >> (6 - 2 * pixel)) & 3];
    }
  }
}

/** Unpack one picture of `width` by `height` into `pixels`, whose rows are `stride` long, at `offset`; of shades, or of
 * colours by the curve of that name. */
export function unpack(packed, start, width, height, pixels, stride, offset, curve) {
  if (curve) unpackColours(packed, start, width, height, pixels, stride, offset, tableOf(curve));
  else unpackShades(packed, start, width, height, pixels, stride, offset);
}

function unpackColours(bytes, start, width, height, pixels, stride, offset, table) {
  let from = start;
  for (let y = 0; y < height; y++) {
    const row = offset + y * stride;
    for (let to = row; to < row + width; to++, from += 2) {
      pixels[to] = table[bytes[from] | ((bytes[from + 1] & 127) << 8)];
    }
  }
}

function unpackShades(packed, start, width, height, pixels, stride, offset) {
  const bytes = width >> 2;
  let from = start;
  for (let y = 0; y < height; y++) {
    let to = offset + y * stride;
    for (let end = from + bytes; from < end; from++) {
      const four = packed[from] << 2;
      pixels[to] = colours[four];
      pixels[to + 1] = colours[four + 1];
      pixels[to + 2] = colours[four + 2];
      pixels[to + 3] = colours[four + 3];
      to += 4;
    }
  }
}

/** One whole picture onto a canvas of 160 by 144. */
export function show(context, packed, curve) {
  const image = context.createImageData(WIDTH, HEIGHT);
  unpack(packed, 0, WIDTH, HEIGHT, new Uint32Array(image.data.buffer), WIDTH, 0, curve);
  context.putImageData(image, 0, 0);
}

choosePalette('green');
