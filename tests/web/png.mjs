// Makes pictures of pages small: a palette of at most 256 colours in place of 24 bits a pixel. Pages have few colours, so
// that only the edges of letters change, by what nobody sees.
import {crc32 as zlibCrc, deflateSync, inflateSync} from 'node:zlib';

const kFrequent = 96;

const table = Array.from({length: 256}, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; ++k) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});
const crcOf = zlibCrc ?? ((data) => {
  let c = 0xffffffff;
  for (const byte of data) c = table[(c ^ byte) & 0xff] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
});

function chunk(type, data) {
  const out = Buffer.alloc(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, 'latin1');
  data.copy(out, 8);
  out.writeUInt32BE(crcOf(out.subarray(4, 8 + data.length)), 8 + data.length);
  return out;
}

/// Pixels of a PNG of 8 bits a channel, as browsers write them (PNG, third edition, §9.2).
function pixelsOf(png) {
  const parts = [];
  let head;
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const data = png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
    const type = png.toString('latin1', at + 4, at + 8);
    if (type === 'IHDR') head = data;
    if (type === 'IDAT') parts.push(data);
  }
  const [width, height, depth, colour] = [head.readUInt32BE(0), head.readUInt32BE(4), head[8], head[9]];
  if (depth !== 8 || (colour !== 2 && colour !== 6) || head[12] !== 0) throw new Error('not a picture as browsers write them');
  const bytes = colour === 6 ? 4 : 3;
  const raw = inflateSync(Buffer.concat(parts));
  const line = width * bytes;
  const out = Buffer.alloc(height * line);
  for (let y = 0; y < height; ++y) {
    const filter = raw[y * (line + 1)];
    for (let x = 0; x < line; ++x) {
      const left = x < bytes ? 0 : out[y * line + x - bytes];
      const up = y === 0 ? 0 : out[(y - 1) * line + x];
      const corner = y === 0 || x < bytes ? 0 : out[(y - 1) * line + x - bytes];
      let guess = 0;
      if (filter === 1) guess = left;
      else if (filter === 2) guess = up;
      else if (filter === 3) guess = (left + up) >> 1;
      else if (filter === 4) {
        const p = left + up - corner;
        const [a, b, c] = [Math.abs(p - left), Math.abs(p - up), Math.abs(p - corner)];
        guess = a <= b && a <= c ? left : b <= c ? up : corner;
      }
      out[y * line + x] = (raw[y * (line + 1) + 1 + x] + guess) & 0xff;
    }
  }
  return {width, height, bytes, out};
}

export function smallPng(png) {
  const {width, height, bytes, out} = pixelsOf(png);
  const counts = new Map();
  for (let at = 0; at < out.length; at += bytes) {
    const colour = (out[at] << 16) | (out[at + 1] << 8) | out[at + 2];
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const distance = (a, b) => ((a >> 16) - (b >> 16)) ** 2 + (((a >> 8) & 255) - ((b >> 8) & 255)) ** 2 + ((a & 255) - (b & 255)) ** 2;
  // The most frequent ones, then those that these would be furthest from: a red mark is few pixels, and is what people look for.
  const ranked = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([colour]) => colour);
  const palette = ranked.slice(0, kFrequent);
  const rest = ranked.slice(kFrequent).map((colour) => ({colour, off: Math.min(...palette.map((one) => distance(one, colour)))}));
  while (palette.length < 256 && rest.length > 0) {
    const worth = (one) => one.off * Math.sqrt(counts.get(one.colour));
    const best = rest.reduce((most, one) => (worth(one) > worth(most) ? one : most));
    if (best.off === 0) break;
    palette.push(best.colour);
    for (const one of rest) one.off = Math.min(one.off, distance(best.colour, one.colour));
  }
  const nearest = new Map(palette.map((colour, index) => [colour, index]));
  for (const colour of counts.keys()) {
    if (nearest.has(colour)) continue;
    let best = 0;
    for (let index = 1; index < palette.length; ++index) if (distance(colour, palette[index]) < distance(colour, palette[best])) best = index;
    nearest.set(colour, best);
  }
  const lines = Buffer.alloc(height * (width + 1));
  for (let y = 0; y < height; ++y) {
    for (let x = 0; x < width; ++x) {
      const at = (y * width + x) * bytes;
      lines[y * (width + 1) + 1 + x] = nearest.get((out[at] << 16) | (out[at + 1] << 8) | out[at + 2]);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([png.subarray(0, 8), chunk('IHDR', head), chunk('PLTE', colours), chunk('IDAT', deflateSync(lines, {level: 9})), chunk('IEND', Buffer.alloc(0))]);
}
