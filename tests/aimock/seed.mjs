// Loaded before aimock: makes its dice those of PADDOCK_SEED (mulberry32), so that chaos strikes alike in every run.
let state = Number(process.env.PADDOCK_SEED ?? 1) >>> 0;
Math.random = () => {
  state = (state + 0x6d2b79f5) >>> 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
};
