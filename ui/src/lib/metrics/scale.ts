/** The greatest value of an axis. */

/** A round value not below the given one, whose half is round too. */
export function niceTop(value: number): number {
  if (value <= 2) return 2
  const power = 10 ** Math.floor(Math.log10(value))
  const steps = [1, 2, 4, 6, 8, 10].map((step) => step * power)
  return steps.find((step) => step >= value && (step >= 10 || step % 2 === 0)) ?? 10 * power
}
