// Packed pictures, 2 bits a pixel with the leftmost in the top bits, to the colours of a canvas.

export const WIDTH = 160;
export const HEIGHT = 144;

const PALETTES = {
  green: [0xe0f8d0, 0x88c070, 0x346856, 0x081820],
  grey: [0xf6f6f2, 0xa8a8a4, 0x565654, 0x0c0c0c],
  amber: [0xffe9b8, 0xe8a33d, 0x8a4b16, 0x1c0f08],
};

/** Four pixels of colour for each byte, as a canvas keeps them in memory: red first. */
let colours = new Uint32Array(1024);

export function choosePalette(name) {
  const words = (PALETTES[name] ?? PALETTES.green).map((rgb) => {
    const word = new Uint32Array(1);
    new Uint8Array(word.buffer).set([rgb >> 16, (rgb >> 8) & 255, rgb & 255, 255]);
    return word[0];
  });
  for (let byte = 0; byte < 256; byte++) {
    for (let pixel = 0; pixel < 4; pixel++) {
      colours[byte * 4 + pixel] = words[(byte >> (6 - 2 * pixel)) & 3];
    }
  }
}

/** Unpack one picture of `width` by `height` into `pixels`, whose rows are `stride` long, at `offset`. */
export function unpack(packed, start, width, height, pixels, stride, offset) {
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
export function show(context, packed) {
  const image = context.createImageData(WIDTH, HEIGHT);
  unpack(packed, 0, WIDTH, HEIGHT, new Uint32Array(image.data.buffer), WIDTH, 0);
  context.putImageData(image, 0, 0);
}

choosePalette('green');
